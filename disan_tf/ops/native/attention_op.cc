// Directional attention and its gradient as TensorFlow operations.

#include "attention.h"
#include "attention_gradient.h"
#include "attention_kernel.h"
#include "op_helpers.h"

namespace disan {
namespace {

Status AttentionShapes(InferenceContext* context) {
  context->set_output(0, context->input(2));
  context->set_output(1, context->UnknownShapeOfRank(3));
  context->set_output(2, context->input(2));
  return tensorflow::OkStatus();
}

Status AttentionGradientShapes(InferenceContext* context) {
  for (int k = 0; k < 3; ++k) context->set_output(k, context->input(k));
  return tensorflow::OkStatus();
}

// `exact` is the context in Real; it is empty where T is Real itself. An empty `head_mask`
// selects every head.
REGISTER_OP("DisanDirectionalAttention")
    .Attr("T: {float, bfloat16, double}")
    .Attr("Real: {float, double}")
    .Attr("direction: {'forward', 'backward', 'diagonal'}")
    .Attr("scale: float")
    .Input("head: T")
    .Input("dependent: T")
    .Input("value: T")
    .Input("mask: bool")
    .Input("head_mask: bool")
    .Output("context: T")
    .Output("exact: Real")
    .Output("denominator: Real")
    .SetShapeFn(AttentionShapes);

REGISTER_OP("DisanDirectionalAttentionGradient")
    .Attr("T: {float, bfloat16, double}")
    .Attr("Real: {float, double}")
    .Attr("direction: {'forward', 'backward', 'diagonal'}")
    .Attr("scale: float")
    .Input("head: T")
    .Input("dependent: T")
    .Input("value: T")
    .Input("mask: bool")
    .Input("head_mask: bool")
    .Input("upstream: T")
    .Input("exact: Real")
    .Input("denominator: Real")
    .Output("head_gradient: T")
    .Output("dependent_gradient: T")
    .Output("value_gradient: T")
    .SetShapeFn(AttentionGradientShapes);

template <typename T>
class AttentionKernel : public AttentionKernelBase<T> {
  using Base = AttentionKernelBase<T>;
  using typename Base::E;
  using typename Base::Real;

 public:
  explicit AttentionKernel(OpKernelConstruction* construction) : Base(construction) {}

  void Compute(OpKernelContext* context) override {
    AttentionInputs<E> in;
    OP_REQUIRES_OK(context, Base::Read(context, &in));
    const TensorShape& shape = context->input(0).shape();
    Tensor *result, *exact, *denominator;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &result));
    const TensorShape exact_shape = Base::kRounds ? shape : TensorShape({0, 0, 0});
    OP_REQUIRES_OK(context, context->allocate_output(1, exact_shape, &exact));
    OP_REQUIRES_OK(context, context->allocate_output(2, shape, &denominator));
    if (shape.num_elements() == 0) return;
    const AttentionForward<E> pass(in, Data<T>(result),
                                   Base::kRounds ? Data<Real>(exact) : nullptr,
                                   Data<Real>(denominator));
    Base::RunSharded(context, in, pass, in.length * (in.length + 8) * 2);
  }
};

template <typename T>
class AttentionGradientKernel : public AttentionKernelBase<T> {
  using Base = AttentionKernelBase<T>;
  using typename Base::E;
  using typename Base::Real;

 public:
  explicit AttentionGradientKernel(OpKernelConstruction* construction) : Base(construction) {}

  void Compute(OpKernelContext* context) override {
    AttentionInputs<E> in;
    OP_REQUIRES_OK(context, Base::Read(context, &in));
    const TensorShape& shape = context->input(0).shape();
    const char* names[] = {"upstream", "exact", "denominator"};
    for (int k = 0; k < 3; ++k) {
      OP_REQUIRES_OK(context, CheckShape(names[k], context->input(5 + k), shape));
    }
    Tensor* gradients[3];
    for (int k = 0; k < 3; ++k) {
      OP_REQUIRES_OK(context, context->allocate_output(k, shape, &gradients[k]));
    }
    if (shape.num_elements() == 0) return;
    const AttentionGradient<E> pass(in, Data<T>(context->input(5)),
                                    Data<Real>(context->input(6)),
                                    Data<Real>(context->input(7)), Data<T>(gradients[0]),
                                    Data<T>(gradients[1]), Data<T>(gradients[2]));
    Base::RunSharded(context, in, pass, in.length * (in.length + 8) * 4);
  }
};

REGISTER_ATTENTION("DisanDirectionalAttention", AttentionKernel);
REGISTER_ATTENTION("DisanDirectionalAttentionGradient", AttentionGradientKernel);

}  // namespace
}  // namespace disan
