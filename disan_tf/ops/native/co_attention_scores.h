// Scores of all pairs of words of two sentences, forward and gradient, without TensorFlow:
//
//   e_ij = sum_k v_k tanh(a_ik + b_jk), where a is `first`, b is `second` and v is `vector`.
//
// tanh_of_sum.h says how the tanh is computed, with scale 1 here. Where one of the two words has a
// number beyond 20, a + b is added up first, so that 30 with -29 comes out right; other words of
// the sentences, which may be padding, change no bit of a score. Each tanh is within 3e-7 of the
// exact one. Nothing of size L1 L2 dim is stored; the gradient computes the tanh again.

#ifndef DISAN_TF_OPS_NATIVE_CO_ATTENTION_SCORES_H_
#define DISAN_TF_OPS_NATIVE_CO_ATTENTION_SCORES_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "panels.h"
#include "tanh_of_sum.h"
#include "vectors.h"

namespace disan {

// The sum of a vector's lanes, in a fixed order.
inline float AddLanes(Vector<float>::V x) {
#if defined(DISAN_TF_AVX512)
  return _mm512_reduce_add_ps((__m512)x);
#else
  float sum = x[0];
  for (int lane = 1; lane < Vector<float>::kLanes; ++lane) sum += x[lane];
  return sum;
#endif
}

// The matrices that `AdditiveScores` packs of a row, which is a pair of sentences.
enum PairMatrix {
  kFirst, kSecond,                // e^(2a) and e^(2b)
  kFirstNumbers, kSecondNumbers,  // a and b, only for a row with numbers beyond 20
  kVector,
  kFirstGradient, kSecondGradient, kVectorGradient,  // only for the gradient
  kPairMatrices
};

// r of pairs of positions, column by column, in a row without numbers beyond 20.
struct SafePairs {
  Scratch<float>& scratch;

  inline Vector<float>::V Of(int64_t column, int64_t i, int64_t j) const {
    return SigmoidOfSum<float, true>(1.0).Of(scratch.column(kFirst, column)[i],
                                             scratch.column(kSecond, column)[j]);
  }
};

// The same in any other row; the flags tell which of its positions are safe.
struct MixedPairs {
  SafePairs safe;
  std::vector<char> first_is_safe, second_is_safe;

  inline Vector<float>::V Of(int64_t column, int64_t i, int64_t j) const {
    if (first_is_safe[i] && second_is_safe[j]) return safe.Of(column, i, j);
    return SigmoidOfSum<float, false>(1.0).Of(safe.scratch.column(kFirstNumbers, column)[i],
                                              safe.scratch.column(kSecondNumbers, column)[j]);
  }
};

// first: [batch, first_length, dim], second: [batch, second_length, dim], vector: [dim].
class AdditiveScores {
  using V = Vector<float>::V;

 public:
  AdditiveScores(int64_t batch, int64_t first_length, int64_t second_length, int64_t dim,
                 const float* first, const float* second, const float* vector)
      : batch_(batch), dim_(dim), first_(first), second_(second), vector_(vector),
        first_positions_(first_length), second_positions_(second_length) {
    std::iota(first_positions_.begin(), first_positions_.end(), 0);
    std::iota(second_positions_.begin(), second_positions_.end(), 0);
  }

  int64_t batch() const { return batch_; }
  int64_t pairs() const { return first_length() * second_length(); }
  int64_t columns() const { return (dim_ + kLanes - 1) / kLanes; }

  // scores: [batch, first_length, second_length], of which rows [begin, end) are written.
  void Run(int64_t begin, int64_t end, float* scores) const {
    ForEachRow(begin, end, kVector + 1,
               [&](int64_t row, const auto& row_pairs, Scratch<float>& scratch) {
      Score(row_pairs, scratch, scores + row * pairs());
    });
  }

  // With t the tanh and g the upstream gradient, [batch, first_length, second_length]:
  //   da_ik = v_k sum_j g_ij (1 - t_ijk^2), db_jk = v_k sum_i g_ij (1 - t_ijk^2)
  //   dv_k = sum_ij g_ij t_ijk, here for each row alone: vector_gradients is [batch, dim].
  void Gradient(int64_t begin, int64_t end, const float* upstream, float* first_gradient,
                float* second_gradient, float* vector_gradients) const {
    ForEachRow(begin, end, kPairMatrices,
               [&](int64_t row, const auto& row_pairs, Scratch<float>& scratch) {
      for (int64_t c = 0; c < columns(); ++c) {
        DeriveColumn(row_pairs, scratch, c, upstream + row * pairs());
      }
      const auto unpack = [&](PairMatrix matrix, const auto& positions, float* target) {
        const int64_t length = positions.size();
        scratch.Unpack(matrix, dim_, panel(), positions, length, target + row * length * dim_);
      };
      unpack(kFirstGradient, first_positions_, first_gradient);
      unpack(kSecondGradient, second_positions_, second_gradient);
      unpack(kVectorGradient, kOnePosition, vector_gradients);
    });
  }

 private:
  static constexpr int kLanes = Vector<float>::kLanes;
  static inline const std::vector<int64_t> kOnePosition = {0};

  int64_t first_length() const { return first_positions_.size(); }
  int64_t second_length() const { return second_positions_.size(); }
  Panel panel() const { return {0, 0, columns(), dim_}; }

  // Calls visit(row, SafePairs or MixedPairs, Scratch&) with the packed row.
  template <typename Visit>
  void ForEachRow(int64_t begin, int64_t end, int64_t matrices, Visit visit) const {
    Scratch<float> scratch(matrices, columns(), std::max(first_length(), second_length()));
    scratch.Pack(vector_, dim_, panel(), kOnePosition, kVector);
    for (int64_t row = begin; row < end; ++row) {
      scratch.Pack(first_ + row * first_length() * dim_, dim_, panel(), first_positions_, kFirst);
      scratch.Pack(second_ + row * second_length() * dim_, dim_, panel(), second_positions_,
                   kSecond);
      if (IsSafeRow(scratch)) {
        ExponentiateRow(scratch);
        visit(row, SafePairs{scratch}, scratch);
      } else {
        const auto first_is_safe = SeparateUnsafe(scratch, kFirst, kFirstNumbers, first_length());
        const auto second_is_safe =
            SeparateUnsafe(scratch, kSecond, kSecondNumbers, second_length());
        ExponentiateRow(scratch);
        visit(row, MixedPairs{{scratch}, first_is_safe, second_is_safe}, scratch);
      }
    }
  }

  bool IsSafeRow(Scratch<float>& scratch) const {
    bool safe = true;
    for (int64_t c = 0; c < columns(); ++c) {
      safe = safe && IsSafe<float>(scratch.column(kFirst, c), first_length(), 1.0) &&
             IsSafe<float>(scratch.column(kSecond, c), second_length(), 1.0);
    }
    return safe;
  }

  void ExponentiateRow(Scratch<float>& scratch) const {
    for (int64_t c = 0; c < columns(); ++c) {
      Exponentiate<float>(scratch.column(kFirst, c), first_length(), 1.0);
      Exponentiate<float>(scratch.column(kSecond, c), second_length(), 1.0);
    }
  }

  // Copies `matrix` to `numbers` and clears its unsafe positions; returns which positions are safe.
  std::vector<char> SeparateUnsafe(Scratch<float>& scratch, PairMatrix matrix, PairMatrix numbers,
                                   int64_t length) const {
    std::vector<char> is_safe(length, true);
    for (int64_t c = 0; c < columns(); ++c) {
      const V* column = scratch.column(matrix, c);
      std::copy(column, column + length, scratch.column(numbers, c));
      for (int64_t k = 0; k < length; ++k) is_safe[k] &= IsSafe<float>(column + k, 1, 1.0);
    }
    for (int64_t c = 0; c < columns(); ++c) {
      for (int64_t k = 0; k < length; ++k) {
        if (!is_safe[k]) scratch.column(matrix, c)[k] = V{};
      }
    }
    return is_safe;
  }

  template <typename RowPairs>
  void Score(const RowPairs& row_pairs, Scratch<float>& scratch, float* scores) const {
    for (int64_t i = 0; i < first_length(); ++i) {
      for (int64_t j = 0; j < second_length(); ++j) {
        V sum = {};
        for (int64_t c = 0; c < columns(); ++c) {
          sum += *scratch.column(kVector, c) * (1.0f - 2.0f * row_pairs.Of(c, i, j));
        }
        scores[i * second_length() + j] = AddLanes(sum);
      }
    }
  }

  template <typename RowPairs>
  void DeriveColumn(const RowPairs& row_pairs, Scratch<float>& scratch, int64_t c,
                    const float* upstream) const {
    V* to_first = scratch.column(kFirstGradient, c);
    V* to_second = scratch.column(kSecondGradient, c);
    std::fill(to_second, to_second + second_length(), V{});
    const V factor = *scratch.column(kVector, c) * 4.0f;
    V to_vector = {};
    for (int64_t i = 0; i < first_length(); ++i) {
      V slopes = {}, weighted = {};
      for (int64_t j = 0; j < second_length(); ++j) {
        const float g = upstream[i * second_length() + j];
        const V r = row_pairs.Of(c, i, j);
        const V slope = (r - r * r) * g;
        slopes += slope;
        to_second[j] += slope;
        weighted += (1.0f - 2.0f * r) * g;
      }
      to_first[i] = slopes * factor;
      to_vector += weighted;  // position by position: long sums lose fewer bits
    }
    for (int64_t j = 0; j < second_length(); ++j) to_second[j] *= factor;
    *scratch.column(kVectorGradient, c) = to_vector;
  }

  const int64_t batch_, dim_;
  const float *const first_, *const second_, *const vector_;
  std::vector<int64_t> first_positions_, second_positions_;  // 0, 1, ..., for Scratch
};

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_CO_ATTENTION_SCORES_H_
