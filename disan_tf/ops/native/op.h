// What the operations of this folder share: TensorFlow's names, element types, checks, threads.

#ifndef DISAN_TF_OPS_NATIVE_OP_H_
#define DISAN_TF_OPS_NATIVE_OP_H_

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

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_OP_H_
