// Steps of optimizers in one pass over memory: `Run` updates entries [first, last) of the variables
// in place.

#ifndef DISAN_TF_OPS_NATIVE_OPTIMIZERS_H_
#define DISAN_TF_OPS_NATIVE_OPTIMIZERS_H_

#include <cstdint>

#include "vectors.h"

namespace disan {

// Adadelta (Zeiler 2012, algorithm 1).
struct Adadelta {
  static constexpr int kVariables = 3;
  static constexpr const char* kNames[] = {"weight", "squared_gradients", "squared_steps"};
  float learning_rate, rho, epsilon;

  void Run(const float* gradient, int64_t first, int64_t last, float* const* variables) const {
    float *weight = variables[0], *squared_gradients = variables[1], *squared_steps = variables[2];
    ForEachVector(last - first, [&](int64_t offset, int count) {
      const int64_t at = first + offset;
      const Floats g = Load<float>(gradient + at, count);
      const Floats old_steps = Load<float>(squared_steps + at, count);
      const Floats squares = Load<float>(squared_gradients + at, count) * rho +
                             g * g * (1.0f - rho);
      const Floats step =
          Vector<float>::SquareRoot((old_steps + epsilon) / (squares + epsilon)) * g;
      const Floats w = Load<float>(weight + at, count) - step * learning_rate;
      Store<float>(squares, squared_gradients + at, count);
      Store<float>(w, weight + at, count);
      Store<float>(old_steps * rho + step * step * (1.0f - rho), squared_steps + at, count);
    });
  }
};

// RMSProp (Hinton 2012, lecture 6e).
struct RmsProp {
  static constexpr int kVariables = 2;
  static constexpr const char* kNames[] = {"weight", "squared_gradients"};
  float learning_rate, rho, epsilon;

  void Run(const float* gradient, int64_t first, int64_t last, float* const* variables) const {
    float *weight = variables[0], *squared_gradients = variables[1];
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
