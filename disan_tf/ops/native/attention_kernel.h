// What the operations of both forms of directional attention share: attributes, inputs, threads.

#ifndef DISAN_TF_OPS_NATIVE_ATTENTION_KERNEL_H_
#define DISAN_TF_OPS_NATIVE_ATTENTION_KERNEL_H_

#include <initializer_list>
#include <string>
#include <type_traits>

#include "attention.h"
#include "op_helpers.h"

namespace disan {

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

  // Allocates the outputs of a forward pass.
  static Status MakeResults(OpKernelContext* context, int count, Tensor** results) {
    const TensorShape& shape = context->input(0).shape();
    for (int k = 0; k < count; ++k) {
      const bool is_empty = k == 1 && !kRounds;
      TF_RETURN_IF_ERROR(context->allocate_output(
          k, is_empty ? TensorShape({0, 0, 0}) : shape, &results[k]));
    }
    return tensorflow::OkStatus();
  }

  // Checks the named inputs from the sixth on, and allocates the gradients of the first three.
  static Status MakeGradients(OpKernelContext* context, std::initializer_list<const char*> names,
                              E** gradients) {
    const TensorShape& shape = context->input(0).shape();
    int input = 5;
    for (const char* name : names) {
      TF_RETURN_IF_ERROR(CheckShape(name, context->input(input++), shape));
    }
    for (int k = 0; k < 3; ++k) {
      Tensor* gradient;
      TF_RETURN_IF_ERROR(context->allocate_output(k, shape, &gradient));
      gradients[k] = Data<T>(gradient);
    }
    return tensorflow::OkStatus();
  }

  // Runs the columns, each of about so many nanoseconds, on TensorFlow's threads.
  template <typename Pass>
  static void RunSharded(OpKernelContext* context, const AttentionInputs<E>& in, const Pass& pass,
                         int64_t nanoseconds) {
    RunOnThreads(context, in.columns(), nanoseconds,
                 [&pass](int64_t first, int64_t last) { pass.Run(first, last); });
  }

 private:
  Direction direction_;
  float scale_;
};

// Registers an operation and its gradient, to which a form adds its own attributes, inputs and
// outputs. `exact` is the context in Real; it is empty where T is Real itself. An empty `head_mask`
// selects every head.
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
#define ATTENTION_FORWARD_OP(name)     \
  ATTENTION_OP(name)                   \
      .Output("context: T")            \
      .Output("exact: Real")           \
      .Output("denominator: Real")
#define ATTENTION_GRADIENT_OP(name)    \
  ATTENTION_OP(name)                   \
      .Input("upstream: T")            \
      .Input("exact: Real")            \
      .Input("denominator: Real")      \
      .Output("head_gradient: T")      \
      .Output("dependent_gradient: T") \
      .Output("value_gradient: T")     \
      .SetShapeFn(FirstInputShapes<3>)

// Registers Kernel<T> for the element types and the type that each is computed in.
#define REGISTER_ATTENTION_FOR(T, R, name, Kernel)                        \
  REGISTER_KERNEL_BUILDER(Name(name)                                      \
                              .Device(tensorflow::DEVICE_CPU)             \
                              .TypeConstraint<T>("T")                     \
                              .TypeConstraint<R>("Real"),                 \
                          Kernel<T>)
#define REGISTER_ATTENTION(name, Kernel)                  \
  REGISTER_ATTENTION_FOR(float, float, name, Kernel);     \
  REGISTER_ATTENTION_FOR(double, double, name, Kernel);   \
  REGISTER_ATTENTION_FOR(Eigen::bfloat16, float, name, Kernel)

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_ATTENTION_KERNEL_H_
