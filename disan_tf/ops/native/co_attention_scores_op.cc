// Additive scores of pairs of words and their gradient as TensorFlow operations.

#include "co_attention_scores.h"
#include "op_helpers.h"
#include "row_sums.h"

namespace disan {
namespace {

// A dimension of a [batch, length, dim] input; unknown for another rank, which the kernel refuses.
DimensionHandle SentenceDim(InferenceContext* context, int input, int index) {
  const auto shape = context->input(input);
  const bool fits = context->RankKnown(shape) && context->Rank(shape) == 3;
  return fits ? context->Dim(shape, index) : context->UnknownDim();
}

REGISTER_OP("DisanAdditiveScores")
    .Input("first: float")
    .Input("second: float")
    .Input("vector: float")
    .Output("scores: float")
    .SetShapeFn([](InferenceContext* context) {
      context->set_output(0, context->MakeShape({SentenceDim(context, 0, 0),
                                                 SentenceDim(context, 0, 1),
                                                 SentenceDim(context, 1, 1)}));
      return tensorflow::OkStatus();
    });

REGISTER_OP("DisanAdditiveScoresGradient")
    .Input("first: float")
    .Input("second: float")
    .Input("vector: float")
    .Input("upstream: float")
    .Output("first_gradient: float")
    .Output("second_gradient: float")
    .Output("vector_gradient: float")
    .SetShapeFn(FirstInputShapes<3>);

// Checks the first three inputs.
Status CheckSentences(OpKernelContext* context) {
  const Tensor &first = context->input(0), &second = context->input(1);
  if (first.dims() != 3) {
    return InvalidArgument("first has shape ", first.shape().DebugString(),
                           ", expected [batch, length, dim]");
  }
  const int64_t batch = first.dim_size(0), dim = first.dim_size(2);
  if (second.dims() != 3 || second.dim_size(0) != batch || second.dim_size(2) != dim) {
    return InvalidArgument("second has shape ", second.shape().DebugString(), ", expected [",
                           batch, ",length,", dim, "]");
  }
  return CheckShape("vector", context->input(2), TensorShape({dim}));
}

// The shape of the forward pass's output and of the upstream gradient.
TensorShape ScoresShape(OpKernelContext* context) {
  const Tensor &first = context->input(0), &second = context->input(1);
  return TensorShape({first.dim_size(0), first.dim_size(1), second.dim_size(1)});
}

AdditiveScores MakePass(OpKernelContext* context) {
  const Tensor &first = context->input(0), &second = context->input(1);
  return {first.dim_size(0), first.dim_size(1), second.dim_size(1), first.dim_size(2),
          Data<float>(first), Data<float>(second), Data<float>(context->input(2))};
}

// Runs the rows on TensorFlow's threads; `nanoseconds` is the cost of a pair's vector.
template <typename Work>
void RunRows(OpKernelContext* context, const AdditiveScores& pass, int64_t nanoseconds,
             Work work) {
  RunOnThreads(context, pass.batch(), pass.pairs() * (pass.columns() + 1) * nanoseconds, work);
}

class AdditiveScoresKernel : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    OP_REQUIRES_OK(context, CheckSentences(context));
    Tensor* output;
    OP_REQUIRES_OK(context, context->allocate_output(0, ScoresShape(context), &output));
    const AdditiveScores pass = MakePass(context);
    float* scores = Data<float>(output);
    RunRows(context, pass, 2,
            [&](int64_t begin, int64_t end) { pass.Run(begin, end, scores); });
  }
};

class AdditiveScoresGradientKernel : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    OP_REQUIRES_OK(context, CheckSentences(context));
    OP_REQUIRES_OK(context, CheckShape("upstream", context->input(3), ScoresShape(context)));
    Tensor *outputs[3], partial;
    for (int k = 0; k < 3; ++k) {
      OP_REQUIRES_OK(context,
                     context->allocate_output(k, context->input(k).shape(), &outputs[k]));
    }
    const AdditiveScores pass = MakePass(context);
    const int64_t dim = context->input(2).dim_size(0);
    OP_REQUIRES_OK(context, context->allocate_temp(tensorflow::DT_FLOAT,
                                                   TensorShape({pass.batch(), dim}), &partial));
    const float* upstream = Data<float>(context->input(3));
    float *to_first = Data<float>(outputs[0]), *to_second = Data<float>(outputs[1]);
    float* sums = partial.flat<float>().data();
    RunRows(context, pass, 4, [&](int64_t begin, int64_t end) {
      pass.Gradient(begin, end, upstream, to_first, to_second, sums);
    });
    AddBlocks(sums, pass.batch(), dim, Data<float>(outputs[2]));
  }
};

REGISTER_KERNEL_BUILDER(Name("DisanAdditiveScores").Device(tensorflow::DEVICE_CPU),
                        AdditiveScoresKernel);
REGISTER_KERNEL_BUILDER(Name("DisanAdditiveScoresGradient").Device(tensorflow::DEVICE_CPU),
                        AdditiveScoresGradientKernel);

}  // namespace
}  // namespace disan
