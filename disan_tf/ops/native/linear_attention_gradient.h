// The gradient of the linear attention, without TensorFlow. In the symbols of linear_attention.h,
// with h_j = g_j / D_j of the upstream gradient g:
//
//   dv_i = sum_r K_r(b_i) G_r,   db_i = sum_r K'_r(b_i) (v_i G_r - Q_r),
//   G_r = sum_j L_r(a_j) h_j,    Q_r = sum_j L_r(a_j) h_j s_j
//   da_j = h_j (N'_j - D'_j s_j), with K' in place of K in N and D
//
// G and Q are running sums over the heads; the forward pass has computed what da takes.

#ifndef DISAN_TF_OPS_NATIVE_LINEAR_ATTENTION_GRADIENT_H_
#define DISAN_TF_OPS_NATIVE_LINEAR_ATTENTION_GRADIENT_H_

#include <cstdint>

#include "attention_gradient.h"
#include "linear_pass.h"

namespace disan {

template <typename T>
class LinearGradient : LinearPass<T> {
  using Base = LinearPass<T>;
  using typename Base::Block;
  using typename Base::Column;
  using typename Base::Partial;
  using typename Base::Real;
  using typename Base::Together;
  using typename Base::V;

 public:
  // exact, denominator, slope: of the forward pass.
  LinearGradient(const AttentionInputs<T>& in, const Ranks& ranks, const T* upstream,
                 const Real* exact, const Real* denominator, const Real* slope, T* head_gradient,
                 T* dependent_gradient, T* value_gradient)
      : Base(in, ranks),
        pairs_(in, upstream, exact, denominator, head_gradient, dependent_gradient,
               value_gradient),
        upstream_(upstream), exact_(exact), denominator_(denominator), slope_(slope),
        head_gradient_(head_gradient), dependent_gradient_(dependent_gradient),
        value_gradient_(value_gradient) {}

  // Columns [first, last).
  void Run(int64_t first, int64_t last) const {
    this->RunColumns(
        first, last, kSums, true, [&](int64_t column) { pairs_.Run(column, column + 1); },
        [&](const TakingPart& taking_part, const Column& column) {
          this->Clear(taking_part.is_head, column, head_gradient_);
          this->Clear(taking_part.is_dependent, column, dependent_gradient_);
          this->Clear(taking_part.is_dependent, column, value_gradient_);
        },
        [&](const Block& block, Column& column, const TakingPart& taking_part,
            const Partial& partial) { RunBlock(block, column, taking_part, partial); });
  }

 private:
  enum { kDependentSum, kValueSum, kSums };

  // Of the heads a_j, h_j and h_j s_j; of the dependents b_i and v_i.
  struct Loaded {
    Together head = {}, scaled = {}, shifted = {}, dependent = {}, value = {};
  };

  __attribute__((noinline)) void RunBlock(const Block& block, Column& column,
                                          const TakingPart& taking_part,
                                          const Partial& partial) const {
    Loaded loaded;
    for (int t = 0; t < kTogether; ++t) {
      const int64_t token = block.tokens[t];
      if (token < 0) continue;
      if (taking_part.is_head[token]) ReadHead(column, token, t, &loaded);
      if (!taking_part.is_dependent[token]) continue;
      loaded.dependent[t] = this->Read(this->in_.dependent, column, token);
      loaded.value[t] = this->Read(this->in_.value, column, token);
    }
    Together sums[kSums] = {};
    Add(column, &loaded, sums);
    if (!this->Complete(partial, block, kSums, sums)) return;
    for (int t = 0; t < kTogether; ++t) {
      const int64_t token = block.tokens[t];
      if (token < 0 || !taking_part.is_dependent[token]) continue;
      this->Write(sums[kDependentSum][t] * Real(4), dependent_gradient_, column, token);
      this->Write(sums[kValueSum][t], value_gradient_, column, token);
    }
  }

  // Also writes the head's gradient.
  void ReadHead(const Column& column, int64_t token, int t, Loaded* loaded) const {
    const int64_t place = column.origin + token * this->in_.dim;
    const V denominator = Load<Real>(denominator_ + place, column.features);
    V scaled = Load<Real>(upstream_ + place, column.features) *
               Vector<Real>::Reciprocal(denominator);
    scaled = denominator == Real(0) ? V{} : scaled;
    loaded->head[t] = this->Read(this->in_.head, column, token);
    loaded->scaled[t] = scaled;
    loaded->shifted[t] = scaled * Load<Real>(exact_ + place, column.features);
    this->Write(scaled * Load<Real>(slope_ + place, column.features), head_gradient_, column,
                token);
  }

  static void Add(Column& column, Loaded* loaded, Together* sums) {
    const Interpolation<Real>& interpolation = column.interpolation;
    Together basis[kMaxRank];
    interpolation.OfHeads(loaded->head, basis);
    interpolation.ExponentiateAll(loaded->dependent);
    Together dependent_sum = {}, value_sum = {};
    for (int r = 0; r < interpolation.rank(); ++r) {
      V scaled = column.sums[0][r], shifted = column.sums[1][r];
      for (int t = 0; t < kTogether; ++t) {
        V weight, slope;
        interpolation.OfDependent(loaded->dependent[t], r, &weight, &slope);
        value_sum[t] += weight * scaled;
        dependent_sum[t] += slope * (loaded->value[t] * scaled - shifted);
        scaled += basis[r][t] * loaded->scaled[t];
        shifted += basis[r][t] * loaded->shifted[t];
      }
      column.sums[0][r] = scaled;
      column.sums[1][r] = shifted;
    }
    for (int t = 0; t < kTogether; ++t) {
      sums[kDependentSum][t] = dependent_sum[t];
      sums[kValueSum][t] = value_sum[t];
    }
  }

  const AttentionGradient<T> pairs_;
  const T* const upstream_;
  const Real* const exact_;
  const Real* const denominator_;
  const Real* const slope_;
  T* const head_gradient_;
  T* const dependent_gradient_;
  T* const value_gradient_;
};

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_LINEAR_ATTENTION_GRADIENT_H_
