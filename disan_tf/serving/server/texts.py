"""What the server computes: tokens, predictions and vectors of texts."""

import json
from collections.abc import Sequence
from typing import Callable

from disan_tf.runs.bundle import Bundle
from disan_tf.serving.inference.batches import Sentences, compute, tokenise
from disan_tf.serving.inference.encode import encode_all, make_encoding_step
from disan_tf.serving.inference.predict import describe_all, make_prediction_step
from disan_tf.serving.inference.records import SINGLE, text_name, usual_columns

PREDICT, ENCODE = "predict", "encode"


class TextModel:
    """Computes a model's results for requests of a kind, `PREDICT` or `ENCODE`.

    Attributes:
      kinds: the kinds that the model has; a model that reads only pairs has no vectors.
      fields: the names of a text's parts: "text", or the names of a pair.
    """

    def __init__(self, bundle: Bundle):
        self._text_to_ids = bundle.traced_text_to_ids()
        self._columns = {PREDICT: usual_columns(bundle.model.fields), ENCODE: SINGLE}
        step = make_prediction_step(bundle.model)

        def predict(sentences: Sentences) -> Sequence:
            outputs = compute(step, sentences, self._text_to_ids)
            return describe_all(sentences, outputs, bundle)

        self._functions: dict[str, Callable] = {PREDICT: predict}
        if "encode" in bundle.model.signatures():
            encoding_step = make_encoding_step(bundle)

            def encode(sentences: Sentences) -> Sequence:
                vectors = encode_all(encoding_step, sentences, self._text_to_ids)
                return [json.dumps(vector) for vector in vectors.tolist()]

            self._functions[ENCODE] = encode
        self.kinds = tuple(self._functions)
        self.fields = tuple(map(text_name, bundle.model.fields))
        self.classes = bundle.classes

    def fields_of(self, kind: str) -> tuple[str, ...]:
        """Returns the names of the parts of a text of this kind."""
        return tuple(map(text_name, self._columns[kind].fields))

    def tokens(self, kind: str, records: list[dict]) -> Sentences:
        """Returns the tokens of each text's parts."""
        return tokenise(records, self._text_to_ids, self._columns[kind])

    def compute(self, kind: str, sentences: Sentences) -> Sequence:
        """Returns predictions for tokens, or vectors as JSON.

        A request's vectors have up to 3 MB of JSON, which the event loop must not write: it would
        not serve other requests for a third of a second.
        """
        return self._functions[kind](sentences)

    def compile(self) -> None:
        """Computes a text of each kind, which compiles the functions."""
        for kind in self.kinds:
            record = dict.fromkeys(self.fields_of(kind), "A text.")
            self.compute(kind, self.tokens(kind, [record]))
