"""Inputs of models besides word ids: characters and match flags, in graph ops alone."""

import tensorflow as tf

from disan_tf.text.characters import ascii_ids, byte_ids
from disan_tf.text.lookup import TextToIds, fill_empty_rows
from disan_tf.text.word_forms import WordForms


class TextToCharacters(TextToIds):
    """The inputs of biLM-fed models: word ids and the ids of the words' bytes.

    Args:
      arguments, options: see `TextToIds`.
      word_length: the biLM's word length.

    Raises:
      UserError: see `TextToIds` and `byte_ids`.
    """

    def __init__(self, *arguments, word_length: int, **options):
        super().__init__(*arguments, **options)
        self._word_length = word_length

    def inputs(self, *tokens: tf.RaggedTensor) -> list[tf.Tensor]:
        """Returns the model's inputs for tokenised sentences, `<string>[batch, tokens]` each.

        Characters keep their case. A line without tokens is one unknown word without characters.

        Returns:
          The ids of each field, `<int32>[batch, length]`, then the characters of each field,
          `<int32>[batch, length, word_length]`, 0 after the end of a sentence.
        """
        ids, characters = super().inputs(*tokens), []
        for sentences, padded in zip(tokens, ids):
            spelling = byte_ids(sentences.flat_values, self._word_length)
            shape = [*tf.unstack(tf.shape(padded, tf.int64)), self._word_length]
            characters.append(sentences.with_flat_values(spelling).to_tensor(0, shape=shape))
        return [*ids, *characters]


class TextToPairFeatures(TextToIds):
    """The inputs of pair models that need more than word ids (DRCN Sec. 3.1.1 and 3.2.2).

    Args:
      arguments, options: see `TextToIds`.
      forms: the stems and lemmas.
      word_length: the number of characters to keep of a word.

    Raises:
      UserError: see `TextToIds`.
    """

    def __init__(self, *arguments, forms: WordForms, word_length: int, **options):
        super().__init__(*arguments, **options)
        self._forms = forms
        self._word_length = word_length

    def inputs(self, *tokens: tf.RaggedTensor) -> list[tf.Tensor]:
        """Returns the model's inputs for tokenised pairs, `<string>[batch, tokens]` each.

        Words that the vocabulary lacks have characters and flags too. A line without tokens is one
        unknown word without characters that matches nothing.

        Args:
          tokens: the first sentences, then the second ones; or single sentences, whose words match
            nothing.

        Returns:
          [ids of first, ids of second, characters of first, characters of second, match of first,
          match of second]: ids and match `<int32>[batch, length]`, characters
          `<int32>[batch, length, word_length]`, 0 after the end of a sentence.
        """
        ids = super().inputs(*tokens)
        filled = [fill_empty_rows(sentences, "") for sentences in tokens]
        spellings = [
            sentences.with_flat_values(ascii_ids(sentences.flat_values, self._word_length))
            for sentences in filled
        ]
        matches = self._forms.matches(*filled) if len(filled) == 2 else map(tf.zeros_like, ids)
        return [*ids, *(spelling.to_tensor(0) for spelling in spellings), *matches]
