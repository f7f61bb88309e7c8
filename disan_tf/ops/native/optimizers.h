// A step of RMSProp (Hinton 2012, lecture 6e) in one pass over memory.

#ifndef DISAN_TF_OPS_NATIVE_OPTIMIZERS_H_
#define DISAN_TF_OPS_NATIVE_OPTIMIZERS_H_

#include <cstdint>

#include "vectors.h"

namespace disan {

struct RmsProp {
  float learning_rate, rho, epsilon;

  // Updates entries [first, last) of the variables in place.
  void Run(const float* gradient, int64_t first, int64_t last, float* weight,
           float* squared_gradients) const {
    ForEachVector(last - first, [&](int64_t offset, int count) {
      const int64_t at = first + offset;
      const Floats g = Load<float>(gradient + at, count);
      const Floats squares = Load<float>(squared_gradients + at, count) * rho +
                             g * g * (1.0f - rho);
      const Floats step = g / (Vector<float>::SquareRoot(squares) + epsilon);
      Store<float>(squares, squared_gradients + at, count);
      Store<float>(Load<float>(weight + at, count) - step * learning_rate, weight + at, count);
    });
  }
};

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_OPTIMIZERS_H_
