// Directional attention in linear time and its gradient as TensorFlow operations.

#include "attention_kernel.h"
#include "linear_attention.h"
#include "linear_attention_gradient.h"
#include "op_helpers.h"

namespace disan {
namespace {

// Nanoseconds of a token in one column.
constexpr int64_t kTokenCost = 200;

Status LinearAttentionShapes(InferenceContext* context) {
  context->set_output(0, context->input(2));
  context->set_output(1, context->UnknownShapeOfRank(3));
  context->set_output(2, context->input(2));
  context->set_output(3, context->input(2));
  return tensorflow::OkStatus();
}

Status LinearAttentionGradientShapes(InferenceContext* context) {
  for (int k = 0; k < 3; ++k) context->set_output(k, context->input(k));
  return tensorflow::OkStatus();
}

// The inputs and `exact` are those of DisanDirectionalAttention; the last two attributes are Ranks.
REGISTER_OP("DisanLinearAttention")
    .Attr("T: {float, bfloat16, double}")
    .Attr("Real: {float, double}")
    .Attr("direction: {'forward', 'backward', 'diagonal'}")
    .Attr("scale: float")
    .Attr("widest: list(float)")
    .Attr("pairs_per_node: int >= 0")
    .Input("head: T")
    .Input("dependent: T")
    .Input("value: T")
    .Input("mask: bool")
    .Input("head_mask: bool")
    .Output("context: T")
    .Output("exact: Real")
    .Output("denominator: Real")
    .Output("slope: Real")
    .SetShapeFn(LinearAttentionShapes);

REGISTER_OP("DisanLinearAttentionGradient")
    .Attr("T: {float, bfloat16, double}")
    .Attr("Real: {float, double}")
    .Attr("direction: {'forward', 'backward', 'diagonal'}")
    .Attr("scale: float")
    .Attr("widest: list(float)")
    .Attr("pairs_per_node: int >= 0")
    .Input("head: T")
    .Input("dependent: T")
    .Input("value: T")
    .Input("mask: bool")
    .Input("head_mask: bool")
    .Input("upstream: T")
    .Input("exact: Real")
    .Input("denominator: Real")
    .Input("slope: Real")
    .Output("head_gradient: T")
    .Output("dependent_gradient: T")
    .Output("value_gradient: T")
    .SetShapeFn(LinearAttentionGradientShapes);

template <typename T>
class LinearAttentionKernelBase : public AttentionKernelBase<T> {
 protected:
  explicit LinearAttentionKernelBase(OpKernelConstruction* construction)
      : AttentionKernelBase<T>(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("widest", &ranks_.widest));
    OP_REQUIRES_OK(construction,
                   construction->GetAttr("pairs_per_node", &ranks_.pairs_per_node));
    const size_t most = (kMaxRank - kLeastRank) / kRankStep + 1;
    OP_REQUIRES(construction, ranks_.widest.size() <= most,
                InvalidArgument("widest has ", ranks_.widest.size(), " numbers, expected ", most,
                                " or fewer"));
  }

  Ranks ranks_;
};

template <typename T>
class LinearAttentionKernel : public LinearAttentionKernelBase<T> {
  using Base = LinearAttentionKernelBase<T>;
  using typename Base::E;
  using typename Base::Real;

 public:
  explicit LinearAttentionKernel(OpKernelConstruction* construction) : Base(construction) {}

  void Compute(OpKernelContext* context) override {
    AttentionInputs<E> in;
    OP_REQUIRES_OK(context, Base::Read(context, &in));
    const TensorShape& shape = context->input(0).shape();
    const TensorShape exact_shape = Base::kRounds ? shape : TensorShape({0, 0, 0});
    Tensor* results[4];
    for (int k = 0; k < 4; ++k) {
      OP_REQUIRES_OK(context,
                     context->allocate_output(k, k == 1 ? exact_shape : shape, &results[k]));
    }
    if (shape.num_elements() == 0) return;
    const LinearForward<E> pass(in, this->ranks_, Data<T>(results[0]),
                                Base::kRounds ? Data<Real>(results[1]) : nullptr,
                                Data<Real>(results[2]), Data<Real>(results[3]));
    Base::RunSharded(context, in, pass, in.length * kTokenCost);
  }
};

template <typename T>
class LinearAttentionGradientKernel : public LinearAttentionKernelBase<T> {
  using Base = LinearAttentionKernelBase<T>;
  using typename Base::E;
  using typename Base::Real;

 public:
  explicit LinearAttentionGradientKernel(OpKernelConstruction* construction)
      : Base(construction) {}

  void Compute(OpKernelContext* context) override {
    AttentionInputs<E> in;
    OP_REQUIRES_OK(context, Base::Read(context, &in));
    const TensorShape& shape = context->input(0).shape();
    const char* names[] = {"upstream", "exact", "denominator", "slope"};
    for (int k = 0; k < 4; ++k) {
      OP_REQUIRES_OK(context, CheckShape(names[k], context->input(5 + k), shape));
    }
    Tensor* gradients[3];
    for (int k = 0; k < 3; ++k) {
      OP_REQUIRES_OK(context, context->allocate_output(k, shape, &gradients[k]));
    }
    if (shape.num_elements() == 0) return;
    const LinearGradient<E> pass(in, this->ranks_, Data<T>(context->input(5)),
                                 Data<Real>(context->input(6)), Data<Real>(context->input(7)),
                                 Data<Real>(context->input(8)), Data<T>(gradients[0]),
                                 Data<T>(gradients[1]), Data<T>(gradients[2]));
    Base::RunSharded(context, in, pass, in.length * kTokenCost);
  }
};

REGISTER_ATTENTION("DisanLinearAttention", LinearAttentionKernel);
REGISTER_ATTENTION("DisanLinearAttentionGradient", LinearAttentionGradientKernel);

}  // namespace
}  // namespace disan
