"""The settings for TensorFlow Serving parse as its BatchingParameters."""

from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    message_factory,
    text_format,
    wrappers_pb2,
)

from tests.support.pages import blocks_of, text_of
from tests.support.runs.training import ROOT

# tensorflow_serving/servables/tensorflow/session_bundle_config.proto
NUMBERS = {
    "max_batch_size": 1,
    "batch_timeout_micros": 2,
    "max_enqueued_batches": 3,
    "num_batch_threads": 4,
}


def parameters():
    """An empty message with the fields that the page sets, all of type Int64Value."""
    file = descriptor_pb2.FileDescriptorProto(name="batching.proto", package="batching")
    file.dependency.append("google/protobuf/wrappers.proto")
    message = file.message_type.add(name="BatchingParameters")
    for name, number in NUMBERS.items():
        field = message.field.add(name=name, number=number, type=11, label=1)
        field.type_name = ".google.protobuf.Int64Value"
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(wrappers_pb2.DESCRIPTOR.serialized_pb)
    pool.Add(file)
    kind = pool.FindMessageTypeByName("batching.BatchingParameters")
    return message_factory.GetMessageClass(kind)()


def test_the_page_has_batching_parameters():
    blocks = blocks_of(text_of(ROOT / "docs/how_to/serve.md"))
    (text,) = (block.text for block in blocks if block.text.startswith("max_batch_size"))
    message = text_format.Parse(text, parameters())
    assert message.max_batch_size.value == 256 and message.num_batch_threads.value == 2
