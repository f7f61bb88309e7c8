// The gradient of directional attention, without TensorFlow. In the symbols of attention.h and
// tanh_of_sum.h, with p the attention and g the upstream gradient:
//
//   dv_i = sum_j p_ij g_j
//   d(b_i + a_j) = p_ij g_j (v_i - s_j) (1 - tanh^2), where 1 - tanh^2 = 4 r (1 - r)

#ifndef DISAN_TF_OPS_NATIVE_ATTENTION_GRADIENT_H_
#define DISAN_TF_OPS_NATIVE_ATTENTION_GRADIENT_H_

#include <algorithm>
#include <cstdint>

#include "attention.h"

namespace disan {

template <typename T>
class AttentionGradient {
  using Real = typename Arithmetic<T>::Real;
  using V = typename Vector<Real>::V;

 public:
  // exact and denominator: of the forward pass, <Real>[batch, length, dim].
  AttentionGradient(const AttentionInputs<T>& in, const T* upstream, const Real* exact,
                    const Real* denominator, T* head_gradient, T* dependent_gradient,
                    T* value_gradient)
      : in_(in), weight_(in.scale), upstream_(upstream), exact_(exact),
        denominator_(denominator), head_gradient_(head_gradient),
        dependent_gradient_(dependent_gradient), value_gradient_(value_gradient) {}

  // Columns [first, last).
  void Run(int64_t first, int64_t last) const {
    SentencePairs<T> pairs(in_);
    ForEachPanel<Real>(in_.length, in_.dim, first, last, kMatrices,
                       [&](const Panel& panel, Scratch<Real>& scratch) {
      RunPanel(panel, pairs.Of(panel.sentence), scratch);
    });
  }

 private:
  enum {
    kHead, kScaled, kShifted, kHeadGradient,  // of heads
    kDependent, kValue, kDependentGradient, kValueGradient,  // of dependents
    kMatrices
  };

  // One column of each.
  struct Packed {
    V *head, *scaled, *shifted, *head_gradient;
    V *dependent, *value, *dependent_gradient, *value_gradient;
  };

  void RunPanel(const Panel& panel, const AdmissiblePairs& pairs, Scratch<Real>& scratch) const {
    const int64_t origin = panel.sentence * in_.length * in_.dim + panel.feature;
    const auto& heads = pairs.heads();
    const auto& dependents = pairs.dependents();
    scratch.Pack(in_.head + origin, in_.dim, panel, heads, kHead);
    scratch.Pack(in_.dependent + origin, in_.dim, panel, dependents, kDependent);
    scratch.Pack(in_.value + origin, in_.dim, panel, dependents, kValue);
    scratch.Pack(upstream_ + origin, in_.dim, panel, heads, kScaled);
    scratch.Pack(exact_ + origin, in_.dim, panel, heads, kShifted);
    scratch.Pack(denominator_ + origin, in_.dim, panel, heads, kHeadGradient);
    for (int64_t c = 0; c < panel.columns; ++c) {
      RunColumn(pairs, {scratch.column(kHead, c), scratch.column(kScaled, c),
                        scratch.column(kShifted, c), scratch.column(kHeadGradient, c),
                        scratch.column(kDependent, c), scratch.column(kValue, c),
                        scratch.column(kDependentGradient, c),
                        scratch.column(kValueGradient, c)});
    }
    const auto unpack = [&](int matrix, const auto& positions, T* target) {
      scratch.Unpack(matrix, in_.dim, panel, positions, in_.length, target + origin);
    };
    unpack(kHeadGradient, heads, head_gradient_);
    unpack(kDependentGradient, dependents, dependent_gradient_);
    unpack(kValueGradient, dependents, value_gradient_);
  }

  // head_gradient holds the denominators at first.
  void RunColumn(const AdmissiblePairs& pairs, const Packed& packed) const {
    const int64_t heads = pairs.heads().size(), dependents = pairs.dependents().size();
    for (int64_t k = 0; k < heads; ++k) {
      const V sum = packed.head_gradient[k];
      const V scaled = packed.scaled[k] * Vector<Real>::Reciprocal(sum);
      packed.scaled[k] = sum == Real(0) ? V{} : scaled;  // g_j over the denominator
      packed.shifted[k] *= packed.scaled[k];             // and times s_j
      packed.head_gradient[k] = V{};
    }
    std::fill(packed.dependent_gradient, packed.dependent_gradient + dependents, V{});
    std::fill(packed.value_gradient, packed.value_gradient + dependents, V{});
    if (IsSafe<Real>(packed.head, heads, in_.scale) &&
        IsSafe<Real>(packed.dependent, dependents, in_.scale)) {
      Attend<true>(pairs, packed);
    } else {
      Attend<false>(pairs, packed);
    }
    for (int64_t k = 0; k < heads; ++k) packed.head_gradient[k] *= Real(4);
    for (int64_t k = 0; k < dependents; ++k) packed.dependent_gradient[k] *= Real(4);
  }

  template <bool kProduct>
  void Attend(const AdmissiblePairs& pairs, const Packed& packed) const {
    const int64_t heads = pairs.heads().size(), dependents = pairs.dependents().size();
    if constexpr (kProduct) {
      Exponentiate<Real>(packed.head, heads, in_.scale);
      Exponentiate<Real>(packed.dependent, dependents, in_.scale);
    }
    const SigmoidOfSum<Real, kProduct> sigmoid(in_.scale);
    for (int64_t start = 0; start < heads; start += kTile) {
      const Range tile = {start, std::min(start + kTile, heads)};
      for (int64_t i = 0; i < dependents; ++i) {
        pairs.HeadsOf(i, tile, [&](Range range) { AttendFrom(sigmoid, i, range, packed); });
      }
    }
  }

  // All pairs of one dependent with a range of heads.
  template <bool kProduct>
  inline void AttendFrom(const SigmoidOfSum<Real, kProduct>& sigmoid, int64_t i, Range range,
                         const Packed& packed) const {
    const V b = packed.dependent[i], v = packed.value[i];
    V dependent_gradient = {}, value_gradient = {};
    for (int64_t j = range.begin; j < range.end; ++j) {
      const V r = sigmoid.Of(packed.head[j], b);
      const V w = weight_.Of(r);
      value_gradient += w * packed.scaled[j];
      const V pulled = packed.scaled[j] * v - packed.shifted[j];
      const V gradient = w * pulled * (r - r * r);
      dependent_gradient += gradient;
      packed.head_gradient[j] += gradient;
    }
    packed.dependent_gradient[i] += dependent_gradient;
    packed.value_gradient[i] += value_gradient;
  }

  const AttentionInputs<T> in_;
  const SoftmaxWeight<Real> weight_;
  const T* const upstream_;
  const Real* const exact_;
  const Real* const denominator_;
  T* const head_gradient_;
  T* const dependent_gradient_;
  T* const value_gradient_;
};

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_ATTENTION_GRADIENT_H_
