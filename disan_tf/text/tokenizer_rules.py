r"""The tokenizers' regular expressions, in the syntax of RE2, and for Python's `re`.

RE2 has no look-around, so what depends on the preceding character is marked first, see
`disan_tf.text.tokenizer`.
"""

import re
import sys
import unicodedata
from functools import cache

import tensorflow as tf

# The clean-up of texts, see `clean_text`. Nobody sees these code points: soft hyphen, zero-width
# space, marks of direction, joiners and operators of layout, variation selectors, byte order mark.
_INVISIBLE = (
    r"\x{AD}\x{61C}\x{200B}\x{200E}\x{200F}\x{202A}-\x{202E}\x{2060}-\x{2064}\x{2066}-\x{2069}"
    r"\x{FE0E}\x{FE0F}\x{FEFF}"
)
# Persian, Indic scripts and emoji need the zero-width joiners, Latin letters do not.
_JOINERS = r"\x{200C}\x{200D}"
_LATIN = (
    r"A-Za-z\x{AA}\x{BA}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{2B8}\x{1D00}-\x{1DBF}\x{1E00}-\x{1EFF}"
    r"\x{212A}\x{212B}\x{2C60}-\x{2C7F}\x{A722}-\x{A7FF}\x{AB30}-\x{AB69}\x{FB00}-\x{FB06}"
    r"\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A}"
)
_ACCENTS = r"\x{300}-\x{36F}"  # of decomposed letters
DROPPED = (
    (f"[{_INVISIBLE}]+", ""),
    (f"([{_LATIN}][{_ACCENTS}]*)[{_JOINERS}]+", "\\1"),
    (f"[{_JOINERS}]+([{_LATIN}])", "\\1"),
)
NORMAL_FORM = "NFC"  # after the code points were dropped, which may separate a letter's parts

# White space of raw text: Unicode's separators, control characters (but for the marks below), and
# two invisible characters that editors leave, zero-width space and byte order mark.
TREEBANK_SPACE = r"\p{Z}\x04-\x1F\x7F-\x{9F}\x{200B}\x{FEFF}"

# The marks: an opening double quote, an opening single quote, the n of "cannot" (can not).
MARKS = (("\x01", '"'), ("\x02", "'"), ("\x03", "n"))
MARKING = (
    (r"[\x00-\x03]", " "),
    (r"\b([Cc]an)not\b", "\\1\x03ot"),
    (rf"(^|[{TREEBANK_SPACE}(\[{{<])(['`‘]?)\"", "\\1\\2\x01"),
    # A single quote by itself is a closing quote or a possessive of tokenised text.
    (rf"(^|[{TREEBANK_SPACE}(\[{{<])([\x01“]?)'([^{TREEBANK_SPACE}'])", "\\1\\2\x02\\3"),
)

# A word is atoms (characters that are never tokens of their own, and numbers such as 1,000 or
# 10:30) that may be joined by one of . & @ / ' - or by stars: and/or, well-known, f***ing.
_PLAIN = rf"[^{TREEBANK_SPACE}\x01-\x03.,:;!?()\[\]{{}}<>\"“”„`‘'’…—–*/&@#%\-\p{{Sc}}\p{{So}}]"
_ATOM = rf"(?:[0-9]+(?:[.,:][0-9]+)*|{_PLAIN})"
_TAIL = rf"(?:(?:[.&@/'’\-]|\*+)?{_ATOM})*"

TOKENS = (
    rf"[{TREEBANK_SPACE}]+",
    r"-[LR][RSC]B-",  # a bracket that is escaped already
    r"``|''|\.{2,}|-{2,}|(?:\\?\*)+|\\?/",
    r"[\x02'’‘`][Nn]['’]",  # rock 'n' roll
    r"[\x02'’‘](?i:em|n|til|tis|twas|cause|[0-9]0s|s|m|re|ve|ll|d)\b",
    rf"(?:[A-Za-z]\.(?:[A-Za-z]\.)+|[A-HJ-Z]\.){_TAIL}",  # U.S. e.g. J. but not the pronoun "I."
    r"(?:Mrs?|Ms|Dr|Jr|Sr|St|Mt|Prof|Rev|Gen|Gov|Sen|Rep|Lt|Sgt|Capt|Col|Inc|Co|Corp|Ltd|Bros"
    r"|Jan|Feb|Aug|Sept?|Oct|Nov|Dec|al|(?i:vs|etc))\.",
    r"[Oo]l['’]",  # good ol' boys
    r"\x03ot",
    rf"[\-+]?\.?[0-9]+(?:[.,:][0-9]+)*{_TAIL}",
    rf"{_ATOM}{_TAIL}",
    r"[\p{So}][\x{FE0F}\p{Sk}]*(?:\x{200D}[\p{So}][\x{FE0F}\p{Sk}]*)*",  # one emoji
    r"(?s:.)",
)
CLITIC = r"(?i:n['’]t|['’](?:s|m|re|ve|ll|d))$"

ESCAPES = (
    (r"^\($", "-LRB-"),
    (r"^\)$", "-RRB-"),
    (r"^\[$", "-LSB-"),
    (r"^\]$", "-RSB-"),
    (r"^\{$", "-LCB-"),
    (r"^\}$", "-RCB-"),
    (r"^[\x01“„]$", "``"),
    (r"^[\"”]$", "''"),
    (r"^[\x02‘]$", "`"),
    (r"[\x02‘’]", "'"),
    (r"^(?:\.{2,}|…)$", "..."),
    (r"^(?:-{2,}|—|–)$", "--"),
    (r"\\?/", r"\\/"),
    (r"\\?\*", r"\\*"),
    (r"\x03", "n"),
)
BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
ESCAPED_SIGNS = {**BRACKETS, r"\/": "/", r"\*": "*"}

# Kim's `clean_str_sst` keeps these characters, and writes a space in place of each other one.
KIM_CHARACTERS = "A-Za-z0-9(),!?'`"

# DiSAN's authors divide SNLI's words at hyphens, dashes, slash, tilde, quotes and degree sign.
JOINTS = "([-\u2212\u2014\u2013/~\"'\u201c\u2019\u201d\u2018\u00b0])"


def clean_text(text: str) -> str:
    """Returns a text as a person sees it, as `disan_tf.text.tokenizer.clean` does in a graph.

    Drops invisible code points, and zero-width joiners beside Latin letters; composes letters and
    their accents (NFC).

    Example:
      >>> clean_text("superb\u200e cafe\u0301")
      'superb café'
    """
    if text.isascii():
        return text
    for pattern, replacement in _compiled(DROPPED):
        text = pattern.sub(replacement, text)
    return unicodedata.normalize(NORMAL_FORM, text)


def sign_escapes(lowercase: bool) -> dict[str, str]:
    """Returns the tokens that the tokenizer writes for signs, with the signs: `-LRB-` with `(`."""
    signs = ESCAPED_SIGNS.items()
    return {escape.lower() if lowercase else escape: sign for escape, sign in signs}


def unescape(token: str) -> str:
    r"""Returns a token without escapes: `-LRB-` becomes `(`, and `1\/2` becomes `1/2`."""
    return BRACKETS.get(token.upper()) or token.replace(r"\/", "/").replace(r"\*", "*")


def python_steps(
    name: str, split: bool, keep_empty: bool, version: int
) -> list[tuple[str, object]]:
    """Returns the steps of a tokenizer for Python's `re`, see `disan_tf.serving.export.client`.

    A step is ("replace", pairs of a pattern and its replacement), ("normalize", a normal form),
    ("find", a pattern whose matches are the tokens) or ("split", a pattern with a group, which
    divides tokens and is kept).

    Args:
      name, version: see `disan_tf.text.tokenizer.make_tokenizer`.
      split, keep_empty: whether `split_words` divides tokens, and its argument `keep_empty`.
    """
    drop_empty = ("find", "(?s:.+)")
    steps = [("replace", DROPPED), ("normalize", NORMAL_FORM)] if version > 1 else []
    if name == "whitespace":
        steps += [("replace", [("\x00", " ")]), ("find", "[^\t-\r ]+")]
    else:
        steps += [("replace", MARKING), ("find", "|".join(TOKENS))]
        steps += [("find", rf"\A[^{TREEBANK_SPACE}](?s:.*)"), *[("split", f"({CLITIC})")] * 2]
        steps += [drop_empty, ("replace", ESCAPES)]
    if name == "kim":
        steps += [("replace", [(f"[^{KIM_CHARACTERS}]", " ")]), ("find", "[^ ]+")]
    if split:
        steps += [("split", JOINTS), *[drop_empty] * (not keep_empty)]
    return [(step, _for_python(rule)) for step, rule in steps]


@cache
def _compiled(rule) -> list[tuple[re.Pattern, str]]:
    return [(re.compile(pattern), replacement) for pattern, replacement in _for_python(rule)]


def _for_python(rule):
    """Returns a pattern of RE2, or pairs of a pattern and its replacement, for Python's `re`."""
    if not isinstance(rule, str):
        return [(_for_python(pattern), replacement) for pattern, replacement in rule]
    # RE2 takes linear time; `re` would try a match at each joiner of a run that no letter follows.
    rule = rule.replace(f"[{_JOINERS}]+(", f"(?<![{_JOINERS}])[{_JOINERS}]+(")
    rule = re.sub(r"\\x\{(\w+)\}", lambda match: chr(int(match[1], 16)), rule)
    rule = re.sub(r"\\p\{(\w+)\}", lambda match: _ranges(match[1]), rule)
    # RE2's word characters are ASCII. Without regard to case it also matches s with the long s, and
    # k with the Kelvin sign (no such group has a k). `re` would also match i with the dotless i.
    rule = re.sub(r"\(\?i:[^)]*", lambda group: group[0].replace("s", "[s\u017f]"), rule)
    return rule.replace(r"\b", r"(?a:\b)").replace("(?i:", "(?ai:")


@cache
def _ranges(category: str) -> str:
    """Returns the ranges of a Unicode category's characters, for a character class of `re`.

    They come from RE2, because the tables of `unicodedata` depend on the version of Python.
    """
    characters = "".join(map(chr, [*range(0xD800), *range(0xE000, sys.maxunicode + 1)]))
    kept = tf.strings.regex_replace(characters, rf"[^\p{{{category}}}]", "\0").numpy().decode()
    runs = re.findall("[^\0]+", kept)
    return "".join(f"{re.escape(run[0])}-{re.escape(run[-1])}" for run in runs)
