// Directional attention in time linear in the length, to within 1e-4 of the exact one, without
// TensorFlow. With the two factors of a weight (interpolation.h)
//
//   N_j = sum_r L_r(a_j) sum_i K_r(b_i) v_i
//   D_j = sum_r L_r(a_j) sum_i K_r(b_i)
//   s_j = N_j / D_j
//
// where the sums over the dependents i that j may attend to are running sums over the tokens.

#ifndef DISAN_TF_OPS_NATIVE_LINEAR_ATTENTION_H_
#define DISAN_TF_OPS_NATIVE_LINEAR_ATTENTION_H_

#include <cstdint>

#include "attention.h"
#include "linear_pass.h"

namespace disan {

template <typename T>
class LinearForward : LinearPass<T> {
  using Base = LinearPass<T>;
  using typename Base::Block;
  using typename Base::Column;
  using typename Base::Partial;
  using typename Base::Real;
  using typename Base::Together;
  using typename Base::V;

 public:
  // context, exact, denominator: as in AttentionForward. slope: the derivative of the context by
  // the head times the denominator, <Real>[batch, length, dim]; only in interpolated columns.
  LinearForward(const AttentionInputs<T>& in, const Ranks& ranks, T* context, Real* exact,
                Real* denominator, Real* slope)
      : Base(in, ranks), pairs_(in, context, exact, denominator), context_(context),
        exact_(exact), denominator_(denominator), slope_(slope) {}

  // Columns [first, last).
  void Run(int64_t first, int64_t last) const {
    this->RunColumns(
        first, last, kSums, false, [&](int64_t column) { pairs_.Run(column, column + 1); },
        [&](const TakingPart& taking_part, const Column& column) {
          this->Clear(taking_part.is_head, column, context_);
          this->Clear(taking_part.is_head, column, denominator_);
          this->Clear(taking_part.is_head, column, slope_);
          if (exact_) this->Clear(taking_part.is_head, column, exact_);
        },
        [&](const Block& block, Column& column, const TakingPart& taking_part,
            const Partial& partial) { RunBlock(block, column, taking_part, partial); });
  }

 private:
  enum { kNormaliser, kTotal, kNormaliserSlope, kTotalSlope, kSums };

  __attribute__((noinline)) void RunBlock(const Block& block, Column& column,
                                          const TakingPart& taking_part,
                                          const Partial& partial) const {
    Together head = {}, dependent = {}, value = {}, present = {};
    for (int t = 0; t < kTogether; ++t) {
      const int64_t token = block.tokens[t];
      if (token < 0) continue;
      if (taking_part.is_head[token]) head[t] = this->Read(this->in_.head, column, token);
      if (!taking_part.is_dependent[token]) continue;
      dependent[t] = this->Read(this->in_.dependent, column, token);
      value[t] = this->Read(this->in_.value, column, token);
      present[t] += Real(1);
    }
    Together sums[kSums] = {};
    Add(column, head, dependent, value, present, sums);
    if (!this->Complete(partial, block, kSums, sums)) return;
    for (int t = 0; t < kTogether; ++t) {
      const int64_t token = block.tokens[t];
      if (token < 0 || !taking_part.is_head[token]) continue;
      const V normaliser = sums[kNormaliser][t];
      V context = sums[kTotal][t] * Vector<Real>::Reciprocal(normaliser);
      context = normaliser == Real(0) ? V{} : context;
      const V slope = sums[kTotalSlope][t] - context * sums[kNormaliserSlope][t];
      this->Write(context, context_, column, token);
      this->Write(normaliser, denominator_, column, token);
      this->Write(slope * Real(4), slope_, column, token);
      if (exact_) this->Write(context, exact_, column, token);
    }
  }

  static void Add(Column& column, const V* head, V* dependent, const V* value, const V* present,
                  Together* sums) {
    const Interpolation<Real>& interpolation = column.interpolation;
    Together basis[kMaxRank];
    interpolation.OfHeads(head, basis);
    interpolation.ExponentiateAll(dependent);
    Together total = {}, normaliser = {}, total_slope = {}, normaliser_slope = {};
    for (int r = 0; r < interpolation.rank(); ++r) {
      V running[kSums];
      for (int k = 0; k < kSums; ++k) running[k] = column.sums[k][r];
      for (int t = 0; t < kTogether; ++t) {
        V weight, slope;
        interpolation.OfDependent(dependent[t], r, &weight, &slope);
        normaliser[t] += basis[r][t] * running[kNormaliser];
        total[t] += basis[r][t] * running[kTotal];
        normaliser_slope[t] += basis[r][t] * running[kNormaliserSlope];
        total_slope[t] += basis[r][t] * running[kTotalSlope];
        weight *= present[t];
        slope *= present[t];
        running[kNormaliser] += weight;
        running[kTotal] += weight * value[t];
        running[kNormaliserSlope] += slope;
        running[kTotalSlope] += slope * value[t];
      }
      for (int k = 0; k < kSums; ++k) column.sums[k][r] = running[k];
    }
    for (int t = 0; t < kTogether; ++t) {
      sums[kNormaliser][t] = normaliser[t];
      sums[kTotal][t] = total[t];
      sums[kNormaliserSlope][t] = normaliser_slope[t];
      sums[kTotalSlope][t] = total_slope[t];
    }
  }

  const AttentionForward<T> pairs_;
  T* const context_;
  Real* const exact_;
  Real* const denominator_;
  Real* const slope_;
};

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_LINEAR_ATTENTION_H_
