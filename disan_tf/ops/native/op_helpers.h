// What the TensorFlow operations share: names, element types, checks, threads, registration.

#ifndef DISAN_TF_OPS_NATIVE_OP_HELPERS_H_
#define DISAN_TF_OPS_NATIVE_OP_HELPERS_H_

#include <algorithm>
#include <cstdint>

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/util/work_sharder.h"
#include "vectors.h"

namespace disan {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Status;
using tensorflow::Tensor;
using tensorflow::TensorShape;
using tensorflow::errors::InvalidArgument;
using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;

// TensorFlow's bfloat16 has the layout of ours.
template <typename T>
struct Element {
  using type = T;
};
template <>
struct Element<Eigen::bfloat16> {
  using type = BFloat16;
};
static_assert(sizeof(Eigen::bfloat16) == sizeof(BFloat16));

template <typename Value>
const typename Element<Value>::type* Data(const Tensor& tensor) {
  return reinterpret_cast<const typename Element<Value>::type*>(tensor.flat<Value>().data());
}

template <typename Value>
typename Element<Value>::type* Data(Tensor* tensor) {
  return reinterpret_cast<typename Element<Value>::type*>(tensor->flat<Value>().data());
}

// A [..., dim] tensor as rows.
struct Rows {
  explicit Rows(const Tensor& tensor)
      : dim(tensor.dims() ? tensor.dim_size(tensor.dims() - 1) : 1),
        count(dim ? tensor.NumElements() / dim : 0) {}
  int64_t dim, count;
};

inline Status CheckShape(const char* name, const Tensor& tensor, const TensorShape& shape) {
  if (tensor.shape() == shape) return tensorflow::OkStatus();
  return InvalidArgument(name, " has shape ", tensor.shape().DebugString(), ", expected ",
                         shape.DebugString());
}

// Splits `units` pieces of work, each of about so many nanoseconds, over TensorFlow's threads.
template <typename Work>
void RunOnThreads(OpKernelContext* context, int64_t units, int64_t nanoseconds, Work work) {
  const auto& threads = *context->device()->tensorflow_cpu_worker_threads();
  tensorflow::Shard(threads.num_threads, threads.workers, units, nanoseconds, work);
}

// Nanoseconds for so many entries that are read, worked on and written. Measured: with a higher
// estimate small tensors are split, and waking a thread costs more than it saves.
constexpr int64_t ElementwiseCost(int64_t entries) { return std::max<int64_t>(entries / 4, 1); }

// The inferred shapes of the first outputs, like the first inputs.
template <int kCount>
Status FirstInputShapes(InferenceContext* context) {
  for (int k = 0; k < kCount; ++k) context->set_output(k, context->input(k));
  return tensorflow::OkStatus();
}

// A dimension of the first input; unknown where it has no such dimension, which the kernel refuses.
inline DimensionHandle FirstInputDim(InferenceContext* context, int index) {
  const auto shape = context->input(0);
  const int rank = context->RankKnown(shape) ? context->Rank(shape) : 0;
  return rank >= (index < 0 ? -index : index + 1) ? context->Dim(shape, index)
                                                  : context->UnknownDim();
}

// Registers Kernel<T> for float32 and bfloat16.
#define REGISTER_FOR(T, name, Kernel)                                                       \
  REGISTER_KERNEL_BUILDER(Name(name).Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
                          Kernel<T>)
#define REGISTER_FOR_FLOATS(name, Kernel) \
  REGISTER_FOR(float, name, Kernel);      \
  REGISTER_FOR(Eigen::bfloat16, name, Kernel)

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_OP_HELPERS_H_
