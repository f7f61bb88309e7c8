"""Temperature scaling (Guo et al. 2017): divides a trained model's logits by one number."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.metrics.classification import expected_calibration_error
from disan_tf.runs.bundle import load_bundle, read_files, write_bundle
from disan_tf.training.config import of_bundle
from disan_tf.training.methods import final_evaluation_step
from disan_tf.training.scoring import run_split

_BOUNDS = np.log(0.05), np.log(20.0)  # a dev part without a mistake would ask for 0


def fit_temperature(logits: np.ndarray, labels: np.ndarray) -> float:
    """Returns the temperature of the lowest cross-entropy, between 0.05 and 20.

    `logits` are <float>[examples, classes] and `labels` <int>[examples].
    """
    rows = np.arange(len(labels))

    def loss(log_temperature):
        return -log_softmax(logits / np.exp(log_temperature), axis=1)[rows, labels].mean()

    return float(np.exp(minimize_scalar(loss, bounds=_BOUNDS, method="bounded").x))


def calibrate(folder, corpus: PreparedCorpus) -> str:
    """Fits the temperature of a bundle on dev and divides the last layer's weights by it.

    So all predictions, exports and copies of the model are calibrated. `model.json` keeps the
    temperature; a bundle that has one stays as it is. Returns a line that names the temperature and
    the calibration errors on dev.
    """
    bundle = load_bundle(folder)
    dev, model = corpus.split("dev"), bundle.model
    scores = bundle.info["scores"]
    if "temperature" in scores:
        return f"the model is calibrated, with the temperature {scores['temperature']:.3f}"
    config = of_bundle(bundle)
    step = final_evaluation_step(model, config)
    logits = run_split(step, dev, model.reads, config.evaluate.batch_size).outputs
    temperature = fit_temperature(logits, dev.labels)
    for weight in model.head.logits.trainable_weights:
        weight.assign(weight / temperature)
    files = read_files(bundle)
    names = bundle.info["sha256"].keys() - {bundle.info["weights"]}
    info = {**bundle.info, "scores": {**scores, "temperature": temperature}}
    write_bundle(folder, model, info, {name: files[name] for name in names})
    errors = [
        expected_calibration_error(softmax(logits / t, axis=1), dev.labels)
        for t in (1.0, temperature)
    ]
    return (
        f"temperature {temperature:.3f}: expected calibration error on dev {errors[0]:.4f} before, "
        f"{errors[1]:.4f} after"
    )
