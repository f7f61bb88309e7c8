"""What models read of sentences besides word ids: characters, match flags; in graph ops alone."""

from collections.abc import Sequence

import tensorflow as tf

from disan_tf.text.characters import ascii_ids, byte_ids
from disan_tf.text.lookup import TextToIds, fill_empty_rows
from disan_tf.text.word_forms import WordForms


class TextToCharacters(TextToIds):
    """What ELMo-fed models read: word ids and the ids of the words' bytes.

    Args:
      words, tokenizer, lowercase, split, keep_empty: see `TextToIds`.
      word_length: of the biLM.

    Raises:
      UserError: see `TextToIds` and `byte_ids`.
    """

    def __init__(
        self, words: Sequence[str], tokenizer: str, lowercase: bool, split: bool = False,
        keep_empty: bool = False, *, word_length: int,
    ):  # fmt: skip
        super().__init__(words, tokenizer, lowercase, split, keep_empty)
        self._word_length = word_length

    def inputs(self, *tokens: tf.RaggedTensor) -> list[tf.Tensor]:
        """What a model reads of tokenised sentences, `<string>[batch, tokens]` each.

        Tokens are spelt in their own case. A line without tokens is one unknown word without
        characters.

        Returns:
          The ids of each, `<int32>[batch, length]`, then the characters of each, `<int32>[batch,
          length, word_length]`, 0 after the end of a sentence.
        """
        ids, characters = super().inputs(*tokens), []
        for each, its_ids in zip(tokens, ids):
            rows = each.with_flat_values(byte_ids(each.flat_values, self._word_length))
            shape = [*tf.unstack(tf.shape(its_ids, tf.int64)), self._word_length]
            characters.append(rows.to_tensor(0, shape=shape))
        return [*ids, *characters]


class TextToPairFeatures(TextToIds):
    """What models of pairs read that need more than word ids (DRCN Sec. 3.1.1 and 3.2.2).

    Args:
      words, tokenizer, lowercase, split, keep_empty: see `TextToIds`.
      forms: the stems and lemmas.
      word_length: how many characters of a word are kept.

    Raises:
      UserError: see `TextToIds`.
    """

    def __init__(
        self, words: Sequence[str], tokenizer: str, lowercase: bool, split: bool = False,
        keep_empty: bool = False, *, forms: WordForms, word_length: int,
    ):  # fmt: skip
        super().__init__(words, tokenizer, lowercase, split, keep_empty)
        self._forms = forms
        self._word_length = word_length

    def inputs(self, first: tf.RaggedTensor, second: tf.RaggedTensor) -> list[tf.Tensor]:
        """What a model reads of pairs of tokenised sentences, `<string>[batch, tokens]` each.

        Words that the vocabulary lacks have characters and flags too. A line without tokens is one
        unknown word without characters that matches nothing.

        Returns:
          [ids of first, ids of second, characters of first, characters of second, match of first,
          match of second]: ids and match `<int32>[batch, length]`, characters
          `<int32>[batch, length, word_length]`, 0 after the end of a sentence.
        """
        sentences = [first, second]
        filled = [fill_empty_rows(each, "") for each in sentences]
        spelt = [
            each.with_flat_values(ascii_ids(each.flat_values, self._word_length)).to_tensor(0)
            for each in filled
        ]
        return [*super().inputs(*sentences), *spelt, *self._forms.matches(*filled)]
