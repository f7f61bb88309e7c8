// Steps of optimizers as TensorFlow operations.

#include <array>
#include <vector>

#include "op_helpers.h"
#include "optimizers.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_var.h"

namespace disan {
namespace {

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

// Updates variables by a `Step` of optimizers.h; the settings are the last three inputs.
template <typename Step>
class OptimizerKernel : public OpKernel {
  static constexpr int kVariables = Step::kVariables;
  using Variable = tensorflow::core::RefCountPtr<tensorflow::Var>;

 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& gradient = context->input(kVariables);
    float settings[3];
    for (int k = 0; k < 3; ++k) {
      const char* name = k == 0 ? "learning_rate" : k == 1 ? "rho" : "epsilon";
      const Tensor& setting = context->input(kVariables + 1 + k);
      OP_REQUIRES_OK(context, CheckShape(name, setting, TensorShape({})));
      settings[k] = setting.scalar<float>()();
    }
    // Locked in the order that all steps of a variable share.
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
      OP_REQUIRES_OK(context, Unshare(context, tensor));
      entries[k] = tensor->flat<float>().data();
    }
    const Step step = {settings[0], settings[1], settings[2]};
    const float* from = gradient.flat<float>().data();
    RunOnThreads(context, gradient.NumElements(), ElementwiseCost(7),
                 [=](int64_t first, int64_t last) {
                   step.Run(from, first, last, entries.data());
                 });
  }

 private:
  // Copies a tensor that is also held elsewhere, as by a value that was read: it must not change.
  static Status Unshare(OpKernelContext* context, Tensor* tensor) {
    if (tensor->RefCountIsOne()) return tensorflow::OkStatus();
    Tensor copy;
    TF_RETURN_IF_ERROR(context->allocate_temp(tensor->dtype(), tensor->shape(), &copy));
    copy.flat<float>() = tensor->flat<float>();
    *tensor = copy;
    return tensorflow::OkStatus();
  }
};

REGISTER_KERNEL_BUILDER(Name("DisanAdadelta").Device(tensorflow::DEVICE_CPU),
                        OptimizerKernel<Adadelta>);
REGISTER_KERNEL_BUILDER(Name("DisanRmsProp").Device(tensorflow::DEVICE_CPU),
                        OptimizerKernel<RmsProp>);

}  // namespace
}  // namespace disan
