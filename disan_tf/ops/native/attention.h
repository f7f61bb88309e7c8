// The forward pass of directional attention (DiSAN Eq. 15 and 11), without TensorFlow:
//
//   s_j = sum_i softmax_i(c tanh((b_i + a_j) / c)) v_i, feature by feature, where a is `head`,
//   b is `dependent`, v is `value`, c is `scale`, and (j, i) is a pair that the masks and the
//   direction allow.
//
// A pair costs a product, a reciprocal and one power of two: tanh_of_sum.h says how the tanh is
// computed. The logits lie in [-c, c] and c is at most 40, so no maximum has to be subtracted.
// Tokens are packed as panels.h says: only admitted dependents and selected heads. Nothing of size
// length^2 is ever stored; attention_gradient.h computes the weights again.

#ifndef DISAN_TF_OPS_NATIVE_ATTENTION_H_
#define DISAN_TF_OPS_NATIVE_ATTENTION_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "direction_mask.h"
#include "panels.h"
#include "tanh_of_sum.h"
#include "vectors.h"

namespace disan {

// Dependents (forward) or heads (gradient) that are visited together: their packed numbers stay in
// the first-level cache.
constexpr int64_t kTile = 96;

// The arguments of `directional_attention`; arrays are [batch, length, dim] and [batch, length].
template <typename T>
struct AttentionInputs {
  int64_t batch, length, dim;
  Direction direction;
  double scale;
  const T* head;
  const T* dependent;
  const T* value;
  const bool* mask;
  const bool* head_mask;  // null = every token is a head

  int64_t columns() const { return Columns<typename Arithmetic<T>::Real>(batch, dim); }
};

// e^(c (1 - 2r)), the softmax weight before it is normalised.
template <typename Real>
struct SoftmaxWeight {
  using V = typename Vector<Real>::V;
  Real constant, slope;

  explicit SoftmaxWeight(double scale)
      : constant(scale * kLog2E), slope(-2.0 * scale * kLog2E) {}
  inline V Of(V r) const { return Vector<Real>::Exp2(r * slope + constant); }
};

// The pairs of the sentence that is being computed.
template <typename T>
class SentencePairs {
 public:
  explicit SentencePairs(const AttentionInputs<T>& in) : in_(in) {}

  const AdmissiblePairs& Of(int64_t sentence) {
    if (sentence != sentence_) {
      const int64_t row = sentence * in_.length;
      const bool* head_mask = in_.head_mask ? in_.head_mask + row : nullptr;
      pairs_.reset(
          new AdmissiblePairs(in_.mask + row, head_mask, in_.length, in_.direction));
      sentence_ = sentence;
    }
    return *pairs_;
  }

 private:
  const AttentionInputs<T>& in_;
  int64_t sentence_ = -1;
  std::unique_ptr<AdmissiblePairs> pairs_;
};

template <typename T>
class AttentionForward {
  using Real = typename Arithmetic<T>::Real;
  using V = typename Vector<Real>::V;

 public:
  // context: <T>[batch, length, dim]. exact: the same before it is rounded to T, or null.
  // denominator: sums of the weights, <Real>[batch, length, dim], 0 where nothing is admitted.
  AttentionForward(const AttentionInputs<T>& in, T* context, Real* exact, Real* denominator)
      : in_(in), weight_(in.scale), context_(context), exact_(exact), denominator_(denominator) {}

  // Columns [first, last).
  void Run(int64_t first, int64_t last) const {
    SentencePairs<T> pairs(in_);
    ForEachPanel<Real>(in_.length, in_.dim, first, last, kMatrices,
                       [&](const Panel& panel, Scratch<Real>& scratch) {
      RunPanel(panel, pairs.Of(panel.sentence), scratch);
    });
  }

 private:
  enum { kHead, kDependent, kValue, kTotal, kSum, kMatrices };

  void RunPanel(const Panel& panel, const AdmissiblePairs& pairs, Scratch<Real>& scratch) const {
    const int64_t origin = panel.sentence * in_.length * in_.dim + panel.feature;
    scratch.Pack(in_.head + origin, in_.dim, panel, pairs.heads(), kHead);
    scratch.Pack(in_.dependent + origin, in_.dim, panel, pairs.dependents(), kDependent);
    scratch.Pack(in_.value + origin, in_.dim, panel, pairs.dependents(), kValue);
    for (int64_t number = 0; number < panel.columns; ++number) {
      RunColumn(pairs, scratch.column(kHead, number), scratch.column(kDependent, number),
                scratch.column(kValue, number), scratch.column(kTotal, number),
                scratch.column(kSum, number));
    }
    const auto unpack = [&](int matrix, auto* target) {
      scratch.Unpack(matrix, in_.dim, panel, pairs.heads(), in_.length, target + origin);
    };
    unpack(kTotal, context_);
    unpack(kSum, denominator_);
    if (exact_) unpack(kTotal, exact_);
  }

  void RunColumn(const AdmissiblePairs& pairs, V* head, V* dependent, const V* value, V* total,
                 V* sum) const {
    const int64_t heads = pairs.heads().size(), dependents = pairs.dependents().size();
    std::fill(total, total + heads, V{});
    std::fill(sum, sum + heads, V{});
    if (IsSafe<Real>(head, heads, in_.scale) && IsSafe<Real>(dependent, dependents, in_.scale)) {
      Attend<true>(pairs, head, dependent, value, total, sum);
    } else {
      Attend<false>(pairs, head, dependent, value, total, sum);
    }
    for (int64_t k = 0; k < heads; ++k) {
      const V context = total[k] * Vector<Real>::Reciprocal(sum[k]);
      total[k] = sum[k] == Real(0) ? V{} : context;
    }
  }

  template <bool kProduct>
  void Attend(const AdmissiblePairs& pairs, V* head, V* dependent, const V* value, V* total,
              V* sum) const {
    const int64_t heads = pairs.heads().size(), dependents = pairs.dependents().size();
    if constexpr (kProduct) {
      Exponentiate<Real>(head, heads, in_.scale);
      Exponentiate<Real>(dependent, dependents, in_.scale);
    }
    const SigmoidOfSum<Real, kProduct> sigmoid(in_.scale);
    for (int64_t start = 0; start < dependents; start += kTile) {
      const Range tile = {start, std::min(start + kTile, dependents)};
      for (int64_t j = 0; j < heads; ++j) {
        pairs.DependentsOf(j, tile, [&](Range range) {
          const V a = head[j];
          V numerator = {}, normaliser = {};  // tile by tile: long sums lose fewer bits
          for (int64_t i = range.begin; i < range.end; ++i) {
            const V w = weight_.Of(sigmoid.Of(a, dependent[i]));
            normaliser += w;
            numerator += w * value[i];
          }
          total[j] += numerator;
          sum[j] += normaliser;
        });
      }
    }
  }

  const AttentionInputs<T> in_;
  const SoftmaxWeight<Real> weight_;
  T* const context_;
  Real* const exact_;
  Real* const denominator_;
};

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_ATTENTION_H_
