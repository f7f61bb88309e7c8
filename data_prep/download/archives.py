"""All corpora's and word vectors' official files: addresses, sizes and digests."""

from collections.abc import Mapping
from typing import NamedTuple, Optional


class Archive(NamedTuple):
    """An official zip archive, or a single file of any other kind.

    Attributes:
      address: the address on the corpus' home page, or in scripts that users share.
      folder: the target folder below the data directory.
      size, sha256: in bytes and in hexadecimal; None where the publisher gives none.
      rows: required members, and their numbers of lines; None allows any number.
      whole: whether to unpack other members too.
      megabytes: the most that is fetched, where the size is not known.
    """

    address: str
    folder: str
    size: Optional[int] = None
    sha256: Optional[str] = None
    rows: Mapping[str, Optional[int]] = {}
    whole: bool = True
    megabytes: int = 10

    @property
    def most(self) -> int:
        """The largest number of bytes that is fetched."""
        return self.size or self.megabytes * 1_000_000

    @property
    def name(self) -> str:
        return self.address.rsplit("/", 1)[-1]


# Corpora of which one archive is enough, because each contains all in another layout.
ALTERNATIVES = ("sst",)

_SEMEVAL = "http://alt.qcri.org/semeval2014/task1/data/uploads"
_GLUE = "https://dl.fbaipublicfiles.com/glue/data"
_ELMO = "https://s3-us-west-2.amazonaws.com/allennlp/models/elmo"
_ELMO_ORIGINAL = "2x4096_512_2048cnn_2xhighway"
_COGCOMP = "https://cogcomp.seas.upenn.edu/Data/QA/QC"

ARCHIVES = {
    "sst": (
        Archive(
            "https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip",
            "sst",
            789_539,
            "5c613a4f673fc74097d523a2c83f38e0cc462984d847b82c7aaf36b01cbbbfcc",
        ),
        Archive(
            "https://nlp.stanford.edu/~socherr/stanfordSentimentTreebank.zip",
            "sst",
            6_372_817,
            "3f5209483b46bbf129cacbbbe6ae02fe780407034f61cf6342b7833257c3f1db",
        ),
    ),
    "snli": (
        Archive(
            "https://nlp.stanford.edu/projects/snli/snli_1.0.zip",
            ".",  # its members lie in snli_1.0/
            94_550_081,
            "afb3d70a5af5d8de0d9d81e2637e0fb8c22d1235c2749d83125ca43dab0dbd3e",
        ),
    ),
    "multinli": (
        Archive(
            "https://cims.nyu.edu/~sbowman/multinli/multinli_1.0.zip",
            ".",  # its members lie in multinli_1.0/
            226_850_426,
            "049f507b9e36b1fcb756cfd5aeb3b7a0cfcb84bf023793652987f7e7e0957822",
        ),
    ),
    "glue_mnli": (
        Archive(
            f"{_GLUE}/MNLI.zip",
            "glue",  # its members lie in MNLI/
            312_783_507,
            "e7c1d896d26ed6caf700110645df426cc2d8ebf02a5ab743d5a5c68ac1c83633",
        ),
        Archive(
            f"{_GLUE}/AX.tsv",
            "glue",
            sha256="0e13510b1bb14436ff7e2ee82338f0efb0133ecf2e73507a697dc210db3f05fd",
        ),
    ),
    "sick": (
        # Another edition has fewer rows. Each archive has a readme.txt of its own.
        Archive(f"{_SEMEVAL}/sick_train.zip", "sick", rows={"SICK_train.txt": 4501}, whole=False),
        Archive(f"{_SEMEVAL}/sick_trial.zip", "sick", rows={"SICK_trial.txt": 501}, whole=False),
        Archive(
            f"{_SEMEVAL}/sick_test_annotated.zip",
            "sick",
            rows={"SICK_test_annotated.txt": 4928},
            whole=False,
        ),
    ),
    "trec": (
        Archive(
            f"{_COGCOMP}/train_5500.label",
            "trec",
            335_858,
            "9e4c8bdcaffb96ed61041bd64b564183d52793a8e91d84fc3a8646885f466ec3",
        ),
        Archive(
            f"{_COGCOMP}/TREC_10.label",
            "trec",
            23_354,
            "033f22c028c2bbba9ca682f68ffe204dc1aa6e1cf35dd6207f2d4ca67f0d0e8e",
        ),
    ),
    "polarity": (
        Archive(
            "https://dl.fbaipublicfiles.com/senteval/senteval_data/datasmall_NB_ACL12.zip",
            "polarity",
            rows=dict.fromkeys(
                (
                    "data/customerr/custrev.pos",
                    "data/customerr/custrev.neg",
                    "data/mpqa/mpqa.pos",
                    "data/mpqa/mpqa.neg",
                    "data/subj/subj.subjective",
                    "data/subj/subj.objective",
                )
            ),
            whole=False,
            megabytes=100,
        ),
    ),
    "glove.6B": (
        Archive(
            "https://nlp.stanford.edu/data/glove.6B.zip",
            "glove",
            rows={f"glove.6B.{dim}d.txt": 400_000 for dim in (50, 100, 200, 300)},
            megabytes=1000,
        ),
    ),
    "glove.840B": (
        Archive(
            "https://nlp.stanford.edu/data/glove.840B.300d.zip",
            "glove",
            rows={"glove.840B.300d.txt": 2_196_017},
            megabytes=2500,
        ),
    ),
    "elmo": tuple(
        Archive(
            f"{_ELMO}/{_ELMO_ORIGINAL}/elmo_{_ELMO_ORIGINAL}_{name}", "elmo", megabytes=megabytes
        )
        for name, megabytes in {"options.json": 1, "weights.hdf5": 500}.items()
    ),
}
