"""Readers of raw corpora: one file per corpus, `read(data_dir, options) -> Corpus`."""

from data_prep.corpora import held_out, multinli, nli_files, polarity, sick, snli, sst, text, trec
from data_prep.corpora.corpus import Corpus, Example

__all__ = ["Corpus", "Example", "OPTIONS", "READERS", "SHARDS"]

READERS = {
    "multinli": multinli.read,
    "snli": snli.read,
    "sst": sst.read,
    "sick": sick.read,
    "text": text.read,
    "trec": trec.read,
    "cr": polarity.read,
    "mpqa": polarity.read,
    "subj": polarity.read,
}

# What each reader may be asked for: functions of the options that raise ValueError.
OPTIONS = {
    "multinli": (nli_files.check_options, multinli.check_options),
    "snli": (nli_files.check_options,),
    "sst": (sst.check_options,),
    "sick": (sick.check_options,),
    "text": (text.check_options,),
    "trec": (trec.check_options, held_out.check_options),
    **dict.fromkeys(polarity.SOURCES, (polarity.check_options, held_out.check_options)),
}

SHARDS = {"text": text.shards}  # of corpora of any number of files: those that there are now
