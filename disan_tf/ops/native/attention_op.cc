// Directional attention and its gradient as TensorFlow operations.

#include <string>
#include <type_traits>

#include "attention.h"
#include "attention_gradient.h"
#include "op_helpers.h"

namespace disan {
namespace {

// `exact` is the context in Real; it is empty where T is Real itself. An empty `head_mask` selects
// every head.
#define ATTENTION_OP(name)                                       \
  REGISTER_OP(name)                                              \
      .Attr("T: {float, bfloat16, double}")                      \
      .Attr("Real: {float, double}")                             \
      .Attr("direction: {'forward', 'backward', 'diagonal'}")    \
      .Attr("scale: float")                                      \
      .Input("head: T")                                          \
      .Input("dependent: T")                                     \
      .Input("value: T")                                         \
      .Input("mask: bool")                                       \
      .Input("head_mask: bool")

ATTENTION_OP("DisanDirectionalAttention")
    .Output("context: T")
    .Output("exact: Real")
    .Output("denominator: Real")
    .SetShapeFn([](InferenceContext* context) {
      context->set_output(0, context->input(2));
      context->set_output(1, context->UnknownShapeOfRank(3));
      context->set_output(2, context->input(2));
      return tensorflow::OkStatus();
    });

ATTENTION_OP("DisanDirectionalAttentionGradient")
    .Input("upstream: T")
    .Input("exact: Real")
    .Input("denominator: Real")
    .Output("head_gradient: T")
    .Output("dependent_gradient: T")
    .Output("value_gradient: T")
    .SetShapeFn(FirstInputShapes<3>);

template <typename T>
class AttentionKernelBase : public OpKernel {
 public:
  explicit AttentionKernelBase(OpKernelConstruction* construction) : OpKernel(construction) {
    std::string direction;
    OP_REQUIRES_OK(construction, construction->GetAttr("direction", &direction));
    OP_REQUIRES_OK(construction, construction->GetAttr("scale", &scale_));
    OP_REQUIRES(construction, scale_ > 0.0f && scale_ <= 40.0f,
                InvalidArgument("scale=", scale_, "; it must lie above 0 and be at most 40"));
    direction_ = direction == "forward"    ? Direction::kForward
                 : direction == "backward" ? Direction::kBackward
                                           : Direction::kDiagonal;
  }

 protected:
  using E = typename Element<T>::type;
  using Real = typename Arithmetic<E>::Real;
  static constexpr bool kRounds = !std::is_same<T, Real>::value;

  // Checks and reads the first five inputs.
  Status Read(OpKernelContext* context, AttentionInputs<E>* in) const {
    const Tensor& head = context->input(0);
    if (head.dims() != 3) {
      return InvalidArgument("head has shape ", head.shape().DebugString(),
                             ", expected [batch, length, dim]");
    }
    const TensorShape masks({head.dim_size(0), head.dim_size(1)});
    TF_RETURN_IF_ERROR(CheckShape("dependent", context->input(1), head.shape()));
    TF_RETURN_IF_ERROR(CheckShape("value", context->input(2), head.shape()));
    TF_RETURN_IF_ERROR(CheckShape("mask", context->input(3), masks));
    const Tensor& head_mask = context->input(4);
    const bool all_heads = head_mask.shape() == TensorShape({0, 0});
    if (!all_heads) TF_RETURN_IF_ERROR(CheckShape("head_mask", head_mask, masks));
    *in = {head.dim_size(0), head.dim_size(1), head.dim_size(2), direction_, scale_,
           Data<T>(head), Data<T>(context->input(1)), Data<T>(context->input(2)),
           context->input(3).flat<bool>().data(),
           all_heads ? nullptr : head_mask.flat<bool>().data()};
    return tensorflow::OkStatus();
  }

  // Runs the columns, with so many nanoseconds for a pair, on TensorFlow's threads.
  template <typename Pass>
  static void RunSharded(OpKernelContext* context, const AttentionInputs<E>& in, const Pass& pass,
                         int64_t nanoseconds) {
    RunOnThreads(context, in.columns(), in.length * (in.length + 8) * nanoseconds,
                 [&pass](int64_t first, int64_t last) { pass.Run(first, last); });
  }

 private:
  Direction direction_;
  float scale_;
};

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
    const TensorShape& shape = context->input(0).shape();
    Tensor* results[3];
    for (int k = 0; k < 3; ++k) {
      const bool is_empty = k == 1 && !Base::kRounds;
      OP_REQUIRES_OK(context, context->allocate_output(
                                  k, is_empty ? TensorShape({0, 0, 0}) : shape, &results[k]));
    }
    if (context->input(0).NumElements() == 0) return;
    const AttentionForward<E> pass(in, Data<T>(results[0]),
                                   Base::kRounds ? Data<Real>(results[1]) : nullptr,
                                   Data<Real>(results[2]));
    Base::RunSharded(context, in, pass, 2);
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
    const TensorShape& shape = context->input(0).shape();
    int input = 5;
    for (const char* name : {"upstream", "exact", "denominator"}) {
      OP_REQUIRES_OK(context, CheckShape(name, context->input(input++), shape));
    }
    E* to[3];
    for (int k = 0; k < 3; ++k) {
      Tensor* gradient;
      OP_REQUIRES_OK(context, context->allocate_output(k, shape, &gradient));
      to[k] = Data<T>(gradient);
    }
    if (context->input(0).NumElements() == 0) return;
    const AttentionGradient<E> pass(in, Data<T>(context->input(5)),
                                    Data<Real>(context->input(6)),
                                    Data<Real>(context->input(7)), to[0], to[1], to[2]);
    Base::RunSharded(context, in, pass, 4);
  }
};

// Registers both kernels for an element type T and the type R that it is computed in.
#define REGISTER_ATTENTION_FOR(T, R, name, Kernel)                        \
  REGISTER_KERNEL_BUILDER(Name(name)                                      \
                              .Device(tensorflow::DEVICE_CPU)             \
                              .TypeConstraint<T>("T")                     \
                              .TypeConstraint<R>("Real"),                 \
                          Kernel<T>)
#define REGISTER_ATTENTION(T, R)                                                \
  REGISTER_ATTENTION_FOR(T, R, "DisanDirectionalAttention", AttentionKernel);   \
  REGISTER_ATTENTION_FOR(T, R, "DisanDirectionalAttentionGradient", AttentionGradientKernel)

REGISTER_ATTENTION(float, float);
REGISTER_ATTENTION(double, double);
REGISTER_ATTENTION(Eigen::bfloat16, float);

}  // namespace
}  // namespace disan
