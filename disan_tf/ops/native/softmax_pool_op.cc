// source2token's softmax and sum, and its gradient, as TensorFlow operations.

#include "op_helpers.h"
#include "softmax_pool.h"

namespace disan {
namespace {

REGISTER_OP("DisanSoftmaxPool")
    .Attr("T: {float, bfloat16}")
    .Input("logits: T")
    .Input("x: T")
    .Input("mask: bool")
    .Output("s: T")
    .SetShapeFn([](InferenceContext* context) {
      context->set_output(0, context->Matrix(FirstInputDim(context, 0), FirstInputDim(context, 2)));
      return tensorflow::OkStatus();
    });

REGISTER_OP("DisanSoftmaxPoolGradient")
    .Attr("T: {float, bfloat16}")
    .Input("logits: T")
    .Input("x: T")
    .Input("mask: bool")
    .Input("upstream: T")
    .Output("logits_gradient: T")
    .Output("x_gradient: T")
    .SetShapeFn([](InferenceContext* context) {
      for (int k = 0; k < 2; ++k) context->set_output(k, context->input(0));
      return tensorflow::OkStatus();
    });

// Checks [batch, length, dim] logits and x and their mask.
Status CheckPool(OpKernelContext* context) {
  const Tensor& logits = context->input(0);
  if (logits.dims() != 3) {
    return InvalidArgument("logits has shape ", logits.shape().DebugString(),
                           ", expected [batch, length, dim]");
  }
  TF_RETURN_IF_ERROR(CheckShape("x", context->input(1), logits.shape()));
  return CheckShape("mask", context->input(2),
                    TensorShape({logits.dim_size(0), logits.dim_size(1)}));
}

template <typename T>
SoftmaxPool<typename Element<T>::type> MakePool(OpKernelContext* context) {
  const Tensor& logits = context->input(0);
  return {logits.dim_size(0), logits.dim_size(1), logits.dim_size(2), Data<T>(logits),
          Data<T>(context->input(1)), context->input(2).flat<bool>().data()};
}

template <typename T>
class SoftmaxPoolKernel : public OpKernel {
  using E = typename Element<T>::type;

 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    OP_REQUIRES_OK(context, CheckPool(context));
    const Tensor& logits = context->input(0);
    Tensor* output;
    OP_REQUIRES_OK(context,
                   context->allocate_output(
                       0, TensorShape({logits.dim_size(0), logits.dim_size(2)}), &output));
    if (output->NumElements() == 0) return;
    const auto pool = MakePool<T>(context);
    E* to = Data<T>(output);
    RunOnThreads(context, pool.columns(), ElementwiseCost(logits.dim_size(1) * 4 * kFloatLanes),
                 [=, &pool](int64_t first, int64_t last) { pool.Run(first, last, to); });
  }
};

template <typename T>
class SoftmaxPoolGradientKernel : public OpKernel {
  using E = typename Element<T>::type;

 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    OP_REQUIRES_OK(context, CheckPool(context));
    const Tensor &logits = context->input(0), &upstream = context->input(3);
    OP_REQUIRES_OK(context,
                   CheckShape("upstream", upstream,
                              TensorShape({logits.dim_size(0), logits.dim_size(2)})));
    Tensor *logits_gradient, *x_gradient;
    OP_REQUIRES_OK(context, context->allocate_output(0, logits.shape(), &logits_gradient));
    OP_REQUIRES_OK(context, context->allocate_output(1, logits.shape(), &x_gradient));
    if (logits.NumElements() == 0) return;
    const auto pool = MakePool<T>(context);
    const E* up = Data<T>(upstream);
    E *to_logits = Data<T>(logits_gradient), *to_x = Data<T>(x_gradient);
    RunOnThreads(context, pool.columns(), ElementwiseCost(logits.dim_size(1) * 8 * kFloatLanes),
                 [=, &pool](int64_t first, int64_t last) {
                   pool.Gradient(first, last, up, to_logits, to_x);
                 });
  }
};

REGISTER_FOR_FLOATS("DisanSoftmaxPool", SoftmaxPoolKernel);
REGISTER_FOR_FLOATS("DisanSoftmaxPoolGradient", SoftmaxPoolGradientKernel);

}  // namespace
}  // namespace disan
