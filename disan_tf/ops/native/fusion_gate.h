// The fusion gate (DiSAN Eq. 19 and 20) in one pass over memory:
//
//   F = sigmoid(token + context + bias), u = F h + (1 - F) s.

#ifndef DISAN_TF_OPS_NATIVE_FUSION_GATE_H_
#define DISAN_TF_OPS_NATIVE_FUSION_GATE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "row_sums.h"
#include "vectors.h"

namespace disan {

// Rows [first, last): `gate` is F. Both are 0 where `mask` is false.
template <typename T>
struct FusionGate {
  int64_t rows, dim;
  const T *token, *context, *bias, *h, *s;
  const bool* mask;

  void Run(int64_t first, int64_t last, T* u, T* gate) const {
    for (int64_t row = first; row < last; ++row) {
      if (!mask[row]) {
        std::memset(static_cast<void*>(u + row * dim), 0, dim * sizeof(T));
        std::memset(static_cast<void*>(gate + row * dim), 0, dim * sizeof(T));
        continue;
      }
      ForEachVector(dim, [&](int64_t offset, int count) {
        const int64_t at = row * dim + offset;
        const Floats x = Load<float>(token + at, count) + Load<float>(context + at, count) +
                         Load<float>(bias + offset, count);
        const Floats f = Sigmoid(x);
        // Not s + f (h - s), where a small h would drown in a large s although f is 1.
        const Floats left = Load<float>(h + at, count), right = Load<float>(s + at, count);
        const Floats mixed = f * left + (right - f * right);
        Store<float>(f, gate + at, count);
        Store<float>(mixed, u + at, count);
      });
    }
  }

  static inline Floats Sigmoid(Floats x) {
    constexpr float limit = 80.0f;  // e^80 fits
    x = x > limit ? Floats{} + limit : x;
    x = x < -limit ? Floats{} - limit : x;
    return Vector<float>::Reciprocal(Vector<float>::Exp2(x * float(-kLog2E)) + 1.0f);
  }
};

// The gradient for blocks [first, last). `inner` is that of token and of context; the sums of its
// rows, in partial[block], are that of the bias.
template <typename T>
struct FusionGateGradient {
  int64_t rows, dim;
  const T *upstream, *gate, *h, *s;
  const bool* mask;

  void Run(int64_t first, int64_t last, T* inner, T* h_gradient, T* s_gradient,
           float* partial) const {
    for (int64_t block = first; block < last; ++block) {
      float* sums = partial + block * dim;
      std::fill(sums, sums + dim, 0.0f);
      const int64_t end = std::min(rows, (block + 1) * kBlockRows);
      for (int64_t row = block * kBlockRows; row < end; ++row) {
        if (!mask[row]) {
          for (T* gradient : {inner, h_gradient, s_gradient}) {
            std::memset(static_cast<void*>(gradient + row * dim), 0, dim * sizeof(T));
          }
          continue;
        }
        ForEachVector(dim, [&](int64_t offset, int count) {
          const int64_t at = row * dim + offset;
          const Floats up = Load<float>(upstream + at, count);
          const Floats f = Load<float>(gate + at, count);
          const Floats to_h = up * f, to_s = up - to_h;
          const Floats difference = Load<float>(h + at, count) - Load<float>(s + at, count);
          const Floats gradient = to_s * f * difference;
          Store<float>(to_h, h_gradient + at, count);
          Store<float>(to_s, s_gradient + at, count);
          Store<float>(gradient, inner + at, count);
          Store<float>(Load<float>(sums + offset, count) + gradient, sums + offset, count);
        });
      }
    }
  }
};

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_FUSION_GATE_H_
