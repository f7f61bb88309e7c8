// Dropout masks and their use as TensorFlow operations.

#include <algorithm>

#include "dropout.h"
#include "op_helpers.h"

namespace disan {
namespace {

REGISTER_OP("DisanKeepMask")
    .Attr("threshold: int")
    .Input("entries: int64")
    .Input("key: uint64")
    .Input("counter: uint64")
    .Output("bits: int64")
    .SetShapeFn([](InferenceContext* context) {
      context->set_output(0, context->UnknownShapeOfRank(1));
      return tensorflow::OkStatus();
    });

REGISTER_OP("DisanApplyMask")
    .Attr("T: {float, bfloat16}")
    .Attr("factor: float")
    .Input("x: T")
    .Input("bits: int64")
    .Output("y: T")
    .SetShapeFn(FirstInputShapes<1>);

class KeepMaskKernel : public OpKernel {
 public:
  explicit KeepMaskKernel(OpKernelConstruction* construction) : OpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("threshold", &threshold_));
    OP_REQUIRES(construction, threshold_ >= 0 && threshold_ < 65536,
                InvalidArgument("threshold=", threshold_, "; it must lie in [0, 65536)"));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor &size = context->input(0), &key = context->input(1), &start = context->input(2);
    OP_REQUIRES_OK(context, CheckShape("entries", size, TensorShape({})));
    OP_REQUIRES_OK(context, CheckShape("key", key, TensorShape({1})));
    OP_REQUIRES_OK(context, CheckShape("counter", start, TensorShape({2})));
    const int64_t entries = size.scalar<int64_t>()();
    OP_REQUIRES(context, entries >= 0,
                InvalidArgument("entries is ", entries, ", expected at least 0"));
    const int64_t groups = (entries + kMaskEntries - 1) / kMaskEntries;
    Tensor* output;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({groups}), &output));
    const Philox stream = {key.flat<uint64_t>()(0),
                           {start.flat<uint64_t>()(0), start.flat<uint64_t>()(1)}};
    int64_t* bits = output->flat<int64_t>().data();
    const int threshold = threshold_;
    RunOnThreads(context, groups, ElementwiseCost(kMaskEntries), [=](int64_t first, int64_t last) {
      for (int64_t group = first; group < last; ++group) {
        bits[group] = KeepBits(stream, group, threshold);
      }
    });
  }

 private:
  int threshold_;
};

template <typename T>
class ApplyMaskKernel : public OpKernel {
  using E = typename Element<T>::type;

 public:
  explicit ApplyMaskKernel(OpKernelConstruction* construction) : OpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("factor", &factor_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const int64_t entries = x.NumElements();
    const int64_t groups = (entries + kMaskEntries - 1) / kMaskEntries;
    OP_REQUIRES_OK(context, CheckShape("bits", context->input(1), TensorShape({groups})));
    Tensor* output;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &output));
    const E* from = Data<T>(x);
    E* to = Data<T>(output);
    const auto* bits =
        reinterpret_cast<const uint64_t*>(context->input(1).flat<int64_t>().data());
    const float factor = factor_;
    RunOnThreads(context, groups, ElementwiseCost(kMaskEntries), [=](int64_t first, int64_t last) {
      ApplyBits(from, bits, factor, first * kMaskEntries, std::min(last * kMaskEntries, entries),
                to);
    });
  }

 private:
  float factor_;
};

REGISTER_KERNEL_BUILDER(Name("DisanKeepMask").Device(tensorflow::DEVICE_CPU), KeepMaskKernel);
REGISTER_FOR_FLOATS("DisanApplyMask", ApplyMaskKernel);

}  // namespace
}  // namespace disan
