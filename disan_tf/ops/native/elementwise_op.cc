// Bias and activation, copies and sums as TensorFlow operations.

#include <string>
#include <vector>

#include "elementwise.h"
#include "op_helpers.h"

namespace disan {
namespace {

REGISTER_OP("DisanBiasActivation")
    .Attr("T: {float, bfloat16}")
    .Attr("activation: {'linear', 'elu', 'relu', 'leaky_relu'}")
    .Attr("slope: float = 0.0")
    .Input("x: T")
    .Input("bias: T")
    .Output("y: T")
    .SetShapeFn(FirstInputShapes<1>);

REGISTER_OP("DisanBiasActivationGradient")
    .Attr("T: {float, bfloat16}")
    .Attr("activation: {'linear', 'elu', 'relu', 'leaky_relu'}")
    .Attr("slope: float = 0.0")
    .Input("upstream: T")
    .Input("y: T")
    .Output("x_gradient: T")
    .Output("bias_gradient: T")
    .SetShapeFn([](InferenceContext* context) {
      context->set_output(0, context->input(0));
      context->set_output(1, context->Vector(FirstInputDim(context, -1)));
      return tensorflow::OkStatus();
    });

REGISTER_OP("DisanCopies")
    .Attr("T: {float, bfloat16}")
    .Attr("N: int >= 1")
    .Input("x: T")
    .Output("copies: N * T")
    .SetShapeFn([](InferenceContext* context) {
      for (int k = 0; k < context->num_outputs(); ++k) context->set_output(k, context->input(0));
      return tensorflow::OkStatus();
    });

REGISTER_OP("DisanSum")
    .Attr("T: {float, bfloat16}")
    .Attr("N: int >= 1")
    .Input("x: N * T")
    .Output("sum: T")
    .SetShapeFn(FirstInputShapes<1>);

// Reads the attributes of both kernels.
class ActivationKernelBase : public OpKernel {
 public:
  explicit ActivationKernelBase(OpKernelConstruction* construction) : OpKernel(construction) {
    std::string name;
    OP_REQUIRES_OK(construction, construction->GetAttr("activation", &name));
    OP_REQUIRES_OK(construction, construction->GetAttr("slope", &slope_));
    activation_ = name == "elu"          ? Activation::kElu
                  : name == "relu"       ? Activation::kRelu
                  : name == "leaky_relu" ? Activation::kLeakyRelu
                                         : Activation::kLinear;
    OP_REQUIRES(construction, activation_ != Activation::kLeakyRelu || slope_ > 0.0f,
                InvalidArgument("slope=", slope_, "; it must lie above 0"));
  }

 protected:
  Activation activation_;
  float slope_;
};

template <typename T>
class BiasActivationKernel : public ActivationKernelBase {
  using E = typename Element<T>::type;

 public:
  using ActivationKernelBase::ActivationKernelBase;

  void Compute(OpKernelContext* context) override {
    const Tensor &x = context->input(0), &bias = context->input(1);
    const Rows rows(x);
    OP_REQUIRES(context, x.dims() > 0, InvalidArgument("x is a scalar, expected [..., dim]"));
    OP_REQUIRES_OK(context, CheckShape("bias", bias, TensorShape({rows.dim})));
    Tensor* output;
    OP_REQUIRES_OK(context,
                   context->forward_input_or_allocate_output({0}, 0, x.shape(), &output));
    const auto run = activation_ == Activation::kElu    ? BiasActivation<E, Activation::kElu>
                     : activation_ == Activation::kRelu ? BiasActivation<E, Activation::kRelu>
                     : activation_ == Activation::kLeakyRelu
                         ? BiasActivation<E, Activation::kLeakyRelu>
                         : BiasActivation<E, Activation::kLinear>;
    const float slope = slope_;
    const E *from = Data<T>(x), *add = Data<T>(bias);
    E* to = Data<T>(output);
    RunOnThreads(context, rows.count, ElementwiseCost(rows.dim), [=](int64_t first, int64_t last) {
      run(from, add, slope, rows.dim, first, last, to);
    });
  }
};

template <typename T>
class BiasActivationGradientKernel : public ActivationKernelBase {
  using E = typename Element<T>::type;

 public:
  using ActivationKernelBase::ActivationKernelBase;

  void Compute(OpKernelContext* context) override {
    const Tensor &upstream = context->input(0), &y = context->input(1);
    const Rows rows(upstream);
    OP_REQUIRES(context, upstream.dims() > 0,
                InvalidArgument("upstream is a scalar, expected [..., dim]"));
    const bool linear = activation_ == Activation::kLinear;
    if (!linear) OP_REQUIRES_OK(context, CheckShape("y", y, upstream.shape()));
    Tensor *x_gradient = nullptr, *bias_gradient, partial;
    if (linear) {
      context->set_output(0, upstream);
    } else {
      OP_REQUIRES_OK(context, context->allocate_output(0, upstream.shape(), &x_gradient));
    }
    OP_REQUIRES_OK(context,
                   context->allocate_output(1, TensorShape({rows.dim}), &bias_gradient));
    const int64_t blocks = Blocks(rows.count);
    OP_REQUIRES_OK(context, context->allocate_temp(tensorflow::DT_FLOAT,
                                                   TensorShape({blocks, rows.dim}), &partial));
    const auto run = activation_ == Activation::kElu
                         ? BiasActivationGradient<E, Activation::kElu>
                     : activation_ == Activation::kRelu
                         ? BiasActivationGradient<E, Activation::kRelu>
                     : activation_ == Activation::kLeakyRelu
                         ? BiasActivationGradient<E, Activation::kLeakyRelu>
                         : BiasActivationGradient<E, Activation::kLinear>;
    const E *up = Data<T>(upstream), *result = Data<T>(y);
    E* to = linear ? nullptr : Data<T>(x_gradient);
    float* sums = partial.flat<float>().data();
    const float slope = slope_;
    RunOnThreads(context, blocks, ElementwiseCost(kBlockRows * rows.dim),
                 [=](int64_t first, int64_t last) {
                   run(up, result, slope, rows.count, rows.dim, first, last, to, sums);
                 });
    AddBlocks(sums, blocks, rows.dim, Data<T>(bias_gradient));
  }
};

// All copies share one buffer; DisanSum adds their gradients.
class CopiesKernel : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    for (int k = 0; k < context->num_outputs(); ++k) context->set_output(k, context->input(0));
  }
};

template <typename T>
class SumKernel : public OpKernel {
  using E = typename Element<T>::type;

 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const TensorShape& shape = context->input(0).shape();
    std::vector<const E*> from;
    for (int k = 0; k < context->num_inputs(); ++k) {
      OP_REQUIRES_OK(context, CheckShape("x", context->input(k), shape));
      from.push_back(Data<T>(context->input(k)));
    }
    Tensor* output;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &output));
    E* to = Data<T>(output);
    RunOnThreads(context, shape.num_elements(), ElementwiseCost(from.size()),
                 [=](int64_t first, int64_t last) { Sum(from, first, last, to); });
  }
};

REGISTER_FOR_FLOATS("DisanBiasActivation", BiasActivationKernel);
REGISTER_FOR_FLOATS("DisanBiasActivationGradient", BiasActivationGradientKernel);
REGISTER_KERNEL_BUILDER(Name("DisanCopies").Device(tensorflow::DEVICE_CPU), CopiesKernel);
REGISTER_FOR_FLOATS("DisanSum", SumKernel);

}  // namespace
}  // namespace disan
