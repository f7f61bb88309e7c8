// The TensorFlow operations around dropout.h and fused.h.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "dropout.h"
#include "fused.h"
#include "op.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_var.h"

namespace disan {
namespace {

using tensorflow::shape_inference::DimensionHandle;

// Nanoseconds for so many entries that are read, worked on and written. Measured; with a higher
// estimate small tensors are split, and waking a thread costs more than it saves.
constexpr int64_t Cost(int64_t entries) { return std::max<int64_t>(entries / 4, 1); }

// A dimension of the first input; unknown where it has no such dimension, which the kernel refuses.
DimensionHandle FirstInputDim(InferenceContext* context, int index) {
  const auto shape = context->input(0);
  const int rank = context->RankKnown(shape) ? context->Rank(shape) : 0;
  return rank >= (index < 0 ? -index : index + 1) ? context->Dim(shape, index)
                                                  : context->UnknownDim();
}

Status FirstInputShape(InferenceContext* context) {
  context->set_output(0, context->input(0));
  return tensorflow::OkStatus();
}

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
    .SetShapeFn(FirstInputShape);

REGISTER_OP("DisanBiasActivation")
    .Attr("T: {float, bfloat16}")
    .Attr("activation: {'linear', 'elu', 'relu', 'leaky_relu'}")
    .Attr("slope: float = 0.0")
    .Input("x: T")
    .Input("bias: T")
    .Output("y: T")
    .SetShapeFn(FirstInputShape);

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
    .SetShapeFn(FirstInputShape);

REGISTER_OP("DisanAdadelta")
    .Input("weight: resource")
    .Input("squared_gradients: resource")
    .Input("squared_steps: resource")
    .Input("gradient: float")
    .Input("learning_rate: float")
    .Input("rho: float")
    .Input("epsilon: float")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::NoOutputs);

REGISTER_OP("DisanRmsProp")
    .Input("weight: resource")
    .Input("squared_gradients: resource")
    .Input("gradient: float")
    .Input("learning_rate: float")
    .Input("rho: float")
    .Input("epsilon: float")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::NoOutputs);

REGISTER_OP("DisanFusionGate")
    .Attr("T: {float, bfloat16}")
    .Input("token: T")
    .Input("context: T")
    .Input("bias: T")
    .Input("h: T")
    .Input("s: T")
    .Input("mask: bool")
    .Output("u: T")
    .Output("gate: T")
    .SetShapeFn([](InferenceContext* context) {
      for (int k = 0; k < 2; ++k) context->set_output(k, context->input(0));
      return tensorflow::OkStatus();
    });

REGISTER_OP("DisanFusionGateGradient")
    .Attr("T: {float, bfloat16}")
    .Input("upstream: T")
    .Input("gate: T")
    .Input("h: T")
    .Input("s: T")
    .Input("mask: bool")
    .Output("inner: T")
    .Output("h_gradient: T")
    .Output("s_gradient: T")
    .Output("bias_gradient: T")
    .SetShapeFn([](InferenceContext* context) {
      for (int k = 0; k < 3; ++k) context->set_output(k, context->input(0));
      context->set_output(3, context->Vector(FirstInputDim(context, -1)));
      return tensorflow::OkStatus();
    });

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

// A [..., dim] tensor as rows.
struct Rows {
  explicit Rows(const Tensor& tensor)
      : dim(tensor.dims() ? tensor.dim_size(tensor.dims() - 1) : 1),
        count(dim ? tensor.NumElements() / dim : 0) {}
  int64_t dim, count;
};

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
    OP_REQUIRES(context, entries >= 0, InvalidArgument("entries is ", entries));
    const int64_t groups = (entries + kMaskEntries - 1) / kMaskEntries;
    Tensor* output;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({groups}), &output));
    const Philox stream = {key.flat<uint64_t>()(0),
                           {start.flat<uint64_t>()(0), start.flat<uint64_t>()(1)}};
    int64_t* bits = output->flat<int64_t>().data();
    const int threshold = threshold_;
    RunOnThreads(context, groups, Cost(kMaskEntries), [=](int64_t first, int64_t last) {
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
    RunOnThreads(context, groups, Cost(kMaskEntries), [=](int64_t first, int64_t last) {
      ApplyBits(from, bits, factor, first * kMaskEntries, std::min(last * kMaskEntries, entries),
                to);
    });
  }

 private:
  float factor_;
};

class ActivationBase : public OpKernel {
 protected:
  explicit ActivationBase(OpKernelConstruction* construction) : OpKernel(construction) {
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
  Activation activation_;
  float slope_;
};

template <typename T>
class BiasActivationKernel : public ActivationBase {
  using E = typename Element<T>::type;

 public:
  explicit BiasActivationKernel(OpKernelConstruction* construction)
      : ActivationBase(construction) {}

  void Compute(OpKernelContext* context) override {
    const Tensor &x = context->input(0), &bias = context->input(1);
    const Rows rows(x);
    OP_REQUIRES(context, x.dims() > 0, InvalidArgument("x is a scalar"));
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
    RunOnThreads(context, rows.count, Cost(rows.dim), [=](int64_t first, int64_t last) {
      run(from, add, slope, rows.dim, first, last, to);
    });
  }
};

template <typename T>
class BiasActivationGradientKernel : public ActivationBase {
  using E = typename Element<T>::type;

 public:
  explicit BiasActivationGradientKernel(OpKernelConstruction* construction)
      : ActivationBase(construction) {}

  void Compute(OpKernelContext* context) override {
    const Tensor &upstream = context->input(0), &y = context->input(1);
    const Rows rows(upstream);
    OP_REQUIRES(context, upstream.dims() > 0, InvalidArgument("upstream is a scalar"));
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
    RunOnThreads(context, blocks, Cost(kBlockRows * rows.dim),
                 [=](int64_t first, int64_t last) {
                   run(up, result, slope, rows.count, rows.dim, first, last, to, sums);
                 });
    AddBlocks(sums, blocks, rows.dim, Data<T>(bias_gradient));
  }
};

// All copies share one buffer.
class CopiesKernel : public OpKernel {
 public:
  explicit CopiesKernel(OpKernelConstruction* construction) : OpKernel(construction) {}

  void Compute(OpKernelContext* context) override {
    for (int k = 0; k < context->num_outputs(); ++k) context->set_output(k, context->input(0));
  }
};

template <typename T>
class SumKernel : public OpKernel {
  using E = typename Element<T>::type;

 public:
  explicit SumKernel(OpKernelConstruction* construction) : OpKernel(construction) {}

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
    RunOnThreads(context, shape.num_elements(), Cost(from.size()),
                 [=](int64_t first, int64_t last) { Sum(from, first, last, to); });
  }
};

// A step of an optimizer: `Step` has the variables, and its settings are their last three inputs.
template <typename Step>
class OptimizerKernel : public OpKernel {
  static constexpr int kVariables = Step::kVariables;
  using Variable = tensorflow::core::RefCountPtr<tensorflow::Var>;

 public:
  explicit OptimizerKernel(OpKernelConstruction* construction) : OpKernel(construction) {}

  void Compute(OpKernelContext* context) override {
    const Tensor& gradient = context->input(kVariables);
    float settings[3];
    for (int k = 0; k < 3; ++k) {
      const char* name = k == 0 ? "learning_rate" : k == 1 ? "rho" : "epsilon";
      OP_REQUIRES_OK(context, CheckShape(name, context->input(kVariables + 1 + k), TensorShape({})));
      settings[k] = context->input(kVariables + 1 + k).scalar<float>()();
    }
    // Locked one after the other, in the order that every step of a variable has.
    Variable variables[kVariables];
    std::array<float*, kVariables> entries;
    std::vector<tensorflow::mutex_lock> locks;
    for (int k = 0; k < kVariables; ++k) {
      OP_REQUIRES_OK(context, tensorflow::LookupResource(
                                  context, tensorflow::HandleFromInput(context, k),
                                  &variables[k]));
      locks.emplace_back(*variables[k]->mu());
    }
    for (int k = 0; k < kVariables; ++k) {
      Tensor* tensor = variables[k]->tensor();
      OP_REQUIRES(context, tensor->dtype() == tensorflow::DT_FLOAT,
                  InvalidArgument(Step::kNames[k], " is not a float32 variable"));
      OP_REQUIRES_OK(context, CheckShape(Step::kNames[k], *tensor, gradient.shape()));
      OP_REQUIRES_OK(context, MakeSole(context, tensor));
      entries[k] = tensor->flat<float>().data();
    }
    const Step step = {settings[0], settings[1], settings[2]};
    const float* from = gradient.flat<float>().data();
    RunOnThreads(context, gradient.NumElements(), Cost(7),
                 [=](int64_t first, int64_t last) {
                   step.Run(from, first, last, entries.data());
                 });
  }

 private:
  // A value that somebody has read and still holds must not change under him.
  static Status MakeSole(OpKernelContext* context, Tensor* tensor) {
    if (tensor->RefCountIsOne()) return tensorflow::OkStatus();
    Tensor copy;
    TF_RETURN_IF_ERROR(context->allocate_temp(tensor->dtype(), tensor->shape(), &copy));
    copy.flat<float>() = tensor->flat<float>();
    *tensor = copy;
    return tensorflow::OkStatus();
  }
};

template <typename T>
class FusionGateKernel : public OpKernel {
  using E = typename Element<T>::type;

 public:
  explicit FusionGateKernel(OpKernelConstruction* construction) : OpKernel(construction) {}

  void Compute(OpKernelContext* context) override {
    const Tensor& token = context->input(0);
    const Rows rows(token);
    TensorShape tokens = token.shape();
    OP_REQUIRES(context, tokens.dims() > 0, InvalidArgument("token is a scalar"));
    tokens.RemoveLastDims(1);
    OP_REQUIRES_OK(context, CheckShape("context", context->input(1), token.shape()));
    OP_REQUIRES_OK(context, CheckShape("bias", context->input(2), TensorShape({rows.dim})));
    OP_REQUIRES_OK(context, CheckShape("h", context->input(3), token.shape()));
    OP_REQUIRES_OK(context, CheckShape("s", context->input(4), token.shape()));
    OP_REQUIRES_OK(context, CheckShape("mask", context->input(5), tokens));
    Tensor *u, *gate;
    OP_REQUIRES_OK(context, context->allocate_output(0, token.shape(), &u));
    OP_REQUIRES_OK(context, context->allocate_output(1, token.shape(), &gate));
    const Gate<E> pass = {rows.count, rows.dim, Data<T>(token), Data<T>(context->input(1)),
                          Data<T>(context->input(2)), Data<T>(context->input(3)),
                          Data<T>(context->input(4)), context->input(5).flat<bool>().data()};
    E *to_u = Data<T>(u), *to_gate = Data<T>(gate);
    RunOnThreads(context, rows.count, Cost(2 * rows.dim),
                 [=](int64_t first, int64_t last) { pass.Run(first, last, to_u, to_gate); });
  }
};

template <typename T>
class FusionGateGradientKernel : public OpKernel {
  using E = typename Element<T>::type;

 public:
  explicit FusionGateGradientKernel(OpKernelConstruction* construction)
      : OpKernel(construction) {}

  void Compute(OpKernelContext* context) override {
    const Tensor& upstream = context->input(0);
    const Rows rows(upstream);
    TensorShape tokens = upstream.shape();
    OP_REQUIRES(context, tokens.dims() > 0, InvalidArgument("upstream is a scalar"));
    tokens.RemoveLastDims(1);
    const char* names[] = {"gate", "h", "s"};
    for (int k = 0; k < 3; ++k) {
      OP_REQUIRES_OK(context, CheckShape(names[k], context->input(1 + k), upstream.shape()));
    }
    OP_REQUIRES_OK(context, CheckShape("mask", context->input(4), tokens));
    Tensor *outputs[3], *bias_gradient, partial;
    for (int k = 0; k < 3; ++k) {
      OP_REQUIRES_OK(context, context->allocate_output(k, upstream.shape(), &outputs[k]));
    }
    OP_REQUIRES_OK(context,
                   context->allocate_output(3, TensorShape({rows.dim}), &bias_gradient));
    const int64_t blocks = Blocks(rows.count);
    OP_REQUIRES_OK(context, context->allocate_temp(tensorflow::DT_FLOAT,
                                                   TensorShape({blocks, rows.dim}), &partial));
    const GateGradient<E> pass = {rows.count, rows.dim, Data<T>(upstream),
                                  Data<T>(context->input(1)), Data<T>(context->input(2)),
                                  Data<T>(context->input(3)),
                                  context->input(4).flat<bool>().data()};
    E *inner = Data<T>(outputs[0]), *to_h = Data<T>(outputs[1]), *to_s = Data<T>(outputs[2]);
    float* sums = partial.flat<float>().data();
    RunOnThreads(context, blocks, Cost(3 * kBlockRows * rows.dim),
                 [=](int64_t first, int64_t last) {
                   pass.Run(first, last, inner, to_h, to_s, sums);
                 });
    AddBlocks(sums, blocks, rows.dim, Data<T>(bias_gradient));
  }
};

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
Pool<typename Element<T>::type> MakePool(OpKernelContext* context) {
  const Tensor& logits = context->input(0);
  return {logits.dim_size(0), logits.dim_size(1), logits.dim_size(2), Data<T>(logits),
          Data<T>(context->input(1)), context->input(2).flat<bool>().data()};
}

template <typename T>
class SoftmaxPoolKernel : public OpKernel {
  using E = typename Element<T>::type;

 public:
  explicit SoftmaxPoolKernel(OpKernelConstruction* construction) : OpKernel(construction) {}

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
    RunOnThreads(context, pool.columns(), Cost(logits.dim_size(1) * 4 * kFloatLanes),
                 [=, &pool](int64_t first, int64_t last) { pool.Run(first, last, to); });
  }
};

template <typename T>
class SoftmaxPoolGradientKernel : public OpKernel {
  using E = typename Element<T>::type;

 public:
  explicit SoftmaxPoolGradientKernel(OpKernelConstruction* construction)
      : OpKernel(construction) {}

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
    RunOnThreads(context, pool.columns(), Cost(logits.dim_size(1) * 8 * kFloatLanes),
                 [=, &pool](int64_t first, int64_t last) {
                   pool.Gradient(first, last, up, to_logits, to_x);
                 });
  }
};

#define REGISTER_FOR(T, name, Kernel)                                                       \
  REGISTER_KERNEL_BUILDER(Name(name).Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
                          Kernel<T>)
#define REGISTER(name, Kernel)       \
  REGISTER_FOR(float, name, Kernel); \
  REGISTER_FOR(Eigen::bfloat16, name, Kernel)

REGISTER_KERNEL_BUILDER(Name("DisanKeepMask").Device(tensorflow::DEVICE_CPU), KeepMaskKernel);
REGISTER("DisanApplyMask", ApplyMaskKernel);
REGISTER("DisanBiasActivation", BiasActivationKernel);
REGISTER("DisanBiasActivationGradient", BiasActivationGradientKernel);
REGISTER_KERNEL_BUILDER(Name("DisanCopies").Device(tensorflow::DEVICE_CPU), CopiesKernel);
REGISTER("DisanSum", SumKernel);
REGISTER_KERNEL_BUILDER(Name("DisanAdadelta").Device(tensorflow::DEVICE_CPU),
                        OptimizerKernel<Adadelta>);
REGISTER_KERNEL_BUILDER(Name("DisanRmsProp").Device(tensorflow::DEVICE_CPU),
                        OptimizerKernel<RmsProp>);
REGISTER("DisanFusionGate", FusionGateKernel);
REGISTER("DisanFusionGateGradient", FusionGateGradientKernel);
REGISTER("DisanSoftmaxPool", SoftmaxPoolKernel);
REGISTER("DisanSoftmaxPoolGradient", SoftmaxPoolGradientKernel);

}  // namespace
}  // namespace disan
