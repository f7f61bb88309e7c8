// Bias and activation, and the sum of several arrays, each in one pass over memory.

#ifndef DISAN_TF_OPS_NATIVE_ELEMENTWISE_H_
#define DISAN_TF_OPS_NATIVE_ELEMENTWISE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "row_sums.h"
#include "vectors.h"

namespace disan {

enum class Activation { kLinear, kElu, kRelu, kLeakyRelu };

// `slope` is kLeakyRelu's factor for numbers below 0; it must be positive. The others ignore it.
template <Activation kActivation>
inline Floats Activate(Floats x, float slope) {
  if constexpr (kActivation == Activation::kElu) {
    const Floats below = ExpNegative(x > 0.0f ? Floats{} : x) - 1.0f;
    return x >= 0.0f ? x : below;  // 0 stays 0, which 2^0 - 1 is not to the last bit
  }
  if constexpr (kActivation == Activation::kRelu) return x < 0.0f ? Floats{} : x;
  if constexpr (kActivation == Activation::kLeakyRelu) return x < 0.0f ? x * slope : x;
  return x;
}

// The derivative, as a function of the activation's result.
template <Activation kActivation>
inline Floats Slope(Floats y, float slope) {
  if constexpr (kActivation == Activation::kElu) return y > 0.0f ? Floats{} + 1.0f : y + 1.0f;
  if constexpr (kActivation == Activation::kRelu) return y > 0.0f ? Floats{} + 1.0f : Floats{};
  if constexpr (kActivation == Activation::kLeakyRelu) {
    return y > 0.0f ? Floats{} + 1.0f : Floats{} + slope;
  }
  return Floats{} + 1.0f;
}

// y = activation(x + bias) for rows [first, last) of [rows, dim]; y may be x.
template <typename T, Activation kActivation>
void BiasActivation(const T* x, const T* bias, float slope, int64_t dim, int64_t first,
                    int64_t last, T* y) {
  for (int64_t row = first; row < last; ++row) {
    ForEachVector(dim, [&](int64_t offset, int count) {
      const Floats sum = Load<float>(x + row * dim + offset, count) +
                         Load<float>(bias + offset, count);
      Store<float>(Activate<kActivation>(sum, slope), y + row * dim + offset, count);
    });
  }
}

// The gradient for blocks [first, last): x_gradient (not written for kLinear, where it is the
// upstream gradient itself), and the sums of its rows in partial[block].
template <typename T, Activation kActivation>
void BiasActivationGradient(const T* upstream, const T* y, float slope, int64_t rows,
                            int64_t dim, int64_t first, int64_t last, T* x_gradient,
                            float* partial) {
  for (int64_t block = first; block < last; ++block) {
    float* sums = partial + block * dim;
    std::fill(sums, sums + dim, 0.0f);
    const int64_t end = std::min(rows, (block + 1) * kBlockRows);
    for (int64_t row = block * kBlockRows; row < end; ++row) {
      ForEachVector(dim, [&](int64_t offset, int count) {
        const int64_t at = row * dim + offset;
        Floats gradient = Load<float>(upstream + at, count);
        if constexpr (kActivation != Activation::kLinear) {
          gradient *= Slope<kActivation>(Load<float>(y + at, count), slope);
          Store<float>(gradient, x_gradient + at, count);
        }
        Store<float>(Load<float>(sums + offset, count) + gradient, sums + offset, count);
      });
    }
  }
}

// y = the sum of several x, for entries [first, last).
template <typename T>
void Sum(const std::vector<const T*>& x, int64_t first, int64_t last, T* y) {
  ForEachVector(last - first, [&](int64_t offset, int count) {
    Floats sum = Load<float>(x[0] + first + offset, count);
    for (size_t k = 1; k < x.size(); ++k) sum += Load<float>(x[k] + first + offset, count);
    Store<float>(sum, y + first + offset, count);
  });
}

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_ELEMENTWISE_H_
