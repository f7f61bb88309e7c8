// Directional attention and its gradient as TensorFlow operations.

#include "attention.h"
#include "attention_gradient.h"
#include "attention_kernel.h"
#include "op_helpers.h"

namespace disan {
namespace {

ATTENTION_FORWARD_OP("DisanDirectionalAttention").SetShapeFn([](InferenceContext* context) {
  context->set_output(0, context->input(2));
  context->set_output(1, context->UnknownShapeOfRank(3));
  context->set_output(2, context->input(2));
  return tensorflow::OkStatus();
});

ATTENTION_GRADIENT_OP("DisanDirectionalAttentionGradient");

template <typename T>
class AttentionKernel : public AttentionKernelBase<T> {
  using Base = AttentionKernelBase<T>;
  using typename Base::E;
  using typename Base::Real;

 public:
  using Base::Base;

  void Compute(OpKernelContext* context) override {
    AttentionInputs<E> in;
    OP_REQUIRES_OK(context, Base::Read(context, &in));
    Tensor* results[3];
    OP_REQUIRES_OK(context, Base::MakeResults(context, 3, results));
    if (context->input(0).NumElements() == 0) return;
    const AttentionForward<E> pass(in, Data<T>(results[0]),
                                   Base::kRounds ? Data<Real>(results[1]) : nullptr,
                                   Data<Real>(results[2]));
    Base::RunSharded(context, in, pass, in.length * (in.length + 8) * 2);
  }
};

template <typename T>
class AttentionGradientKernel : public AttentionKernelBase<T> {
  using Base = AttentionKernelBase<T>;
  using typename Base::E;
  using typename Base::Real;

 public:
  using Base::Base;

  void Compute(OpKernelContext* context) override {
    AttentionInputs<E> in;
    OP_REQUIRES_OK(context, Base::Read(context, &in));
    E* to[3];
    OP_REQUIRES_OK(context,
                   Base::MakeGradients(context, {"upstream", "exact", "denominator"}, to));
    if (context->input(0).NumElements() == 0) return;
    const AttentionGradient<E> pass(in, Data<T>(context->input(5)),
                                    Data<Real>(context->input(6)),
                                    Data<Real>(context->input(7)), to[0], to[1], to[2]);
    Base::RunSharded(context, in, pass, in.length * (in.length + 8) * 4);
  }
};

REGISTER_ATTENTION("DisanDirectionalAttention", AttentionKernel);
REGISTER_ATTENTION("DisanDirectionalAttentionGradient", AttentionGradientKernel);

}  // namespace
}  // namespace disan
