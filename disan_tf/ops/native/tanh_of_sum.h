// tanh((a + b) / c) for many pairs of few numbers a and b, without a tanh for each pair.
//
// With r = 1 / (1 + e^(2(a+b)/c)) the tanh is 1 - 2r and its derivative 4 r (1 - r) / c, and
// e^(2(a+b)/c) is the product of e^(2a/c) and e^(2b/c), which are computed once for each number. So
// a pair costs a product and a reciprocal. The product is used where all |2a/c| and |2b/c| are at
// most 40 (kSafe); otherwise a + b is added up first, so that a = 1e4 with b = -1e4 + 1 comes out
// right.

#ifndef DISAN_TF_OPS_NATIVE_TANH_OF_SUM_H_
#define DISAN_TF_OPS_NATIVE_TANH_OF_SUM_H_

#include <cstdint>

#include "vectors.h"

namespace disan {

constexpr double kSafe = 40.0;  // e^80 fits into a float

// r = 1 / (1 + e^(2(a+b)/c)), where c is `scale`.
template <typename Real, bool kProduct>
struct SigmoidOfSum {
  using V = typename Vector<Real>::V;
  Real factor;

  explicit SigmoidOfSum(double scale) : factor(2.0 / scale * kLog2E) {}

  // With kProduct a and b are e^(2a/c) and e^(2b/c), see `Exponentiate`.
  inline V Of(V a, V b) const {
    if constexpr (kProduct) {
      return Vector<Real>::Reciprocal(a * b + Real(1));
    } else {
      // Beyond e^kSafe the tanh is 1. Comparisons leave NaN as it is.
      constexpr Real limit = kSafe * kLog2E;
      V power = (a + b) * factor;
      power = power > limit ? V{} + limit : power;
      power = power < -limit ? V{} - limit : power;
      return Vector<Real>::Reciprocal(Vector<Real>::Exp2(power) + Real(1));
    }
  }
};

// Whether all |2x/c| are at most kSafe (false for NaN).
template <typename Real, typename V>
inline bool IsSafe(const V* packed, int64_t count, double scale) {
  const Real limit = kSafe * scale / 2.0;
  auto safe = V{} == V{};
  for (int64_t k = 0; k < count; ++k) safe &= (packed[k] <= limit) & (packed[k] >= -limit);
  for (int lane = 0; lane < Vector<Real>::kLanes; ++lane) {
    if (!safe[lane]) return false;
  }
  return true;
}

// x -> e^(2x/c). The rounding error of the exponent goes into its fraction: 2^57 needs all bits.
template <typename Real, typename V>
inline void Exponentiate(V* packed, int64_t count, double scale) {
  const double exact = 2.0 / scale * kLog2E;
  const Real factor = exact;
  const Real rest = exact - static_cast<double>(factor);
  for (int64_t k = 0; k < count; ++k) {
    const V x = packed[k];
    const V power = x * factor;
    const V lost = Vector<Real>::RoundingError(x, factor, power);
    packed[k] = Vector<Real>::Exp2(power, lost + x * rest);
  }
}

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_TANH_OF_SUM_H_
