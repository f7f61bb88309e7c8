"""The words that weigh most in a sentence's vector, for `predict --explain`."""

import numpy as np
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.models.base import prefix_of
from disan_tf.serving.inference.lines import look_up

WORDS = 5  # named per sentence
SOURCE2TOKEN = "source2token"
MAX_PAIRS = 1 << 18  # token pairs of a batch, whose attention is dense


class Explanation:
    """Names the tokens with the largest source2token weights (means over the features).

    Args:
      bundle: the model.

    Raises:
      UserError: its encoder has no source2token attention.
    """

    def __init__(self, bundle):
        self._model = bundle.model
        self._weigh = tf.function(
            self._weights, input_signature=bundle.model.input_specs(), autograph=False
        )
        outputs = self._weigh.get_concrete_function().structured_outputs
        if len(outputs) != len(self._model.fields):
            raise UserError(
                f"--explain needs source2token attention, which {bundle.config.encoder.name} in "
                f"{bundle.directory} lacks; --mode=attend writes what there is."
            )

    def __call__(self, sentences, text_to_ids) -> list[dict]:
        """Returns {"explanation": [{"token", "position", "weight"}, ...]} for each record.

        The largest weight comes first; positions count from 0. In a pair each sentence has an
        explanation, "<field>_explanation".

        Args:
          sentences: the tokens of each record's sentences, see `tokenise`.
          text_to_ids: the look-up of the model.
        """
        named = [{} for _ in sentences]
        for batch in self._batches(sentences):
            records = [sentences[index] for index in batch]
            weights = self._weigh(*look_up(records, text_to_ids))
            for number, field in enumerate(self._model.fields):
                name = f"{prefix_of(field)}explanation"
                for index, tokens, row in zip(batch, records, weights[field].numpy()):
                    named[index][name] = heaviest(tokens[number], row)
        return named

    def _weights(self, *inputs):
        """Returns the weights <float32>[batch, length] of the fields that have some."""
        attended = self._model.attend(*inputs)
        names = {field: f"{prefix_of(field)}{SOURCE2TOKEN}" for field in self._model.fields}
        return {
            field: tf.reduce_mean(attended[name], axis=-1)
            for field, name in names.items()
            if name in attended
        }

    def _batches(self, sentences):
        """Yields indices of records with similar lengths, as many as `MAX_PAIRS` allows."""
        longest = [max(map(len, record)) for record in sentences]
        batch = []
        for index in sorted(range(len(sentences)), key=longest.__getitem__):
            if batch and (len(batch) + 1) * longest[index] ** 2 > MAX_PAIRS:
                yield batch
                batch = []
            batch.append(index)
        if batch:
            yield batch


def heaviest(tokens, weights: np.ndarray) -> list[dict]:
    """Returns the tokens with the largest weights <float>[length]; earlier ones win ties."""
    order = np.argsort(-weights[: len(tokens)], kind="stable")[:WORDS]
    return [
        {"token": tokens[index], "position": int(index), "weight": float(f"{weights[index]:.4g}")}
        for index in order
    ]
