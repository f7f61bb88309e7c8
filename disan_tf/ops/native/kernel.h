// Directional attention (DiSAN Eq. 15 and 11), forward and gradient, without TensorFlow.
//
//   s_j = sum_i softmax_i(c tanh((b_i + a_j) / c)) v_i, feature by feature, where a is `head`,
//   b is `dependent`, v is `value`, c is `scale`, and (j, i) is a pair that the masks and the
//   direction admit.
//
// How a pair stays cheap. With r = 1 / (1 + e^(2(a+b)/c)) the tanh is 1 - 2r and its derivative
// 4 r (1 - r), and e^(2(a+b)/c) is the product of e^(2a/c) and e^(2b/c), which are computed once
// for each token. So a pair costs a product, a reciprocal and one power of two. The product is
// used where all |2a/c| and |2b/c| of a column are at most 40 (kSafe); otherwise a + b is added up
// first, so that a = 1e4 with b = -1e4 + 1 comes out right. The logits lie in [-c, c] and c is at
// most 40, so no maximum has to be subtracted.
//
// A column is one sentence and as many features as a vector has lanes. Its tokens are packed
// first: only admitted dependents and selected heads, so that the others cost nothing. Several
// columns of a sentence, a panel, are packed together, so that memory is read in its own order.
// Nothing of size length^2 is ever stored; the gradient computes the weights again.

#ifndef DISAN_TF_OPS_NATIVE_KERNEL_H_
#define DISAN_TF_OPS_NATIVE_KERNEL_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "vectors.h"

namespace disan {

enum class Direction { kForward, kBackward, kDiagonal };

constexpr double kSafe = 40.0;
constexpr double kLog2E = 1.4426950408889634;
// Dependents (forward) or heads (gradient) that are visited together: their packed numbers
// stay in the first-level cache.
constexpr int64_t kTile = 96;
// What a panel may take of the second-level cache.
constexpr int64_t kPanelBytes = 256 * 1024;

struct Range {
  int64_t begin, end;
};

// The arguments of `directional_attention`; arrays are [batch, length, dim] and [batch, length].
template <typename T>
struct Inputs {
  int64_t batch, length, dim;
  Direction direction;
  double scale;
  const T* head;
  const T* dependent;
  const T* value;
  const bool* mask;
  const bool* head_mask;  // null = every token is a head
};

template <typename T>
constexpr int Lanes() {
  return Vector<typename Arithmetic<T>::Real>::kLanes;
}

// Columns are numbered sentence by sentence.
template <typename T>
int64_t ColumnsOfSentence(const Inputs<T>& in) {
  return (in.dim + Lanes<T>() - 1) / Lanes<T>();
}

template <typename T>
int64_t Columns(const Inputs<T>& in) {
  return in.batch * ColumnsOfSentence(in);
}

// Which tokens of a sentence are heads and dependents, and which of them may pair.
class Pairs {
 public:
  Pairs(const bool* mask, const bool* head_mask, int64_t length, Direction direction) {
    for (auto* positions : {&heads_, &dependents_, &dependents_before_, &dependents_until_,
                            &heads_before_, &heads_until_}) {
      positions->reserve(length);
    }
    for (int64_t token = 0; token < length; ++token) {
      const bool is_head = !head_mask || head_mask[token];
      const auto dependents_before = static_cast<int64_t>(dependents_.size());
      const auto heads_before = static_cast<int64_t>(heads_.size());
      if (is_head) {
        heads_.push_back(token);
        dependents_before_.push_back(dependents_before);
        dependents_until_.push_back(dependents_before + mask[token]);
      }
      if (mask[token]) {
        dependents_.push_back(token);
        heads_before_.push_back(heads_before);
        heads_until_.push_back(heads_before + is_head);
      }
    }
    direction_ = direction;
  }

  const std::vector<int64_t>& heads() const { return heads_; }
  const std::vector<int64_t>& dependents() const { return dependents_; }

  // Calls visit(Range) for each stretch of dependents inside `tile` that head number `head` has.
  template <typename Visit>
  void DependentsOf(int64_t head, Range tile, Visit visit) const {
    const Range before = {tile.begin, std::min(tile.end, dependents_before_[head])};
    const Range after = {std::max(tile.begin, dependents_until_[head]), tile.end};
    VisitSides(before, after, direction_ != Direction::kBackward,
               direction_ != Direction::kForward, visit);
  }

  // The same the other way round: the heads that dependent number `dependent` has.
  template <typename Visit>
  void HeadsOf(int64_t dependent, Range tile, Visit visit) const {
    const Range before = {tile.begin, std::min(tile.end, heads_before_[dependent])};
    const Range after = {std::max(tile.begin, heads_until_[dependent]), tile.end};
    VisitSides(before, after, direction_ != Direction::kForward,
               direction_ != Direction::kBackward, visit);
  }

 private:
  template <typename Visit>
  static void VisitSides(Range before, Range after, bool with_before, bool with_after,
                         Visit visit) {
    if (with_before && before.begin < before.end) visit(before);
    if (with_after && after.begin < after.end) visit(after);
  }

  Direction direction_;
  std::vector<int64_t> heads_, dependents_;  // token positions
  std::vector<int64_t> dependents_before_, dependents_until_;  // of each head
  std::vector<int64_t> heads_before_, heads_until_;            // of each dependent
};

// Columns of one sentence that are packed together, and how many features they have in all.
struct Panel {
  int64_t sentence, feature, columns, features;
};

// Packed matrices of one panel after the other: each is [columns][length] vectors, aligned.
template <typename Real>
class Scratch {
 public:
  using V = typename Vector<Real>::V;

  Scratch(int64_t matrices, int64_t columns, int64_t length)
      : columns_(columns), length_(std::max<int64_t>(length, 1)) {
    memory_.reset(new (std::align_val_t(kVectorBytes)) V[matrices * columns_ * length_]);
  }
  V* column(int64_t matrix, int64_t number) {
    return memory_.get() + (matrix * columns_ + number) * length_;
  }

  // Reads the tokens `positions` of a panel, which starts at `source` in a [length, dim] matrix.
  template <typename T>
  void Pack(const T* source, int64_t dim, const Panel& panel,
            const std::vector<int64_t>& positions, int64_t matrix) {
    const int64_t whole = panel.features / kLanes;
    const int rest = static_cast<int>(panel.features % kLanes);
    for (size_t k = 0; k < positions.size(); ++k) {
      const T* row = source + positions[k] * dim;
      V* to = column(matrix, 0) + k;
      for (int64_t number = 0; number < whole; ++number) {
        to[number * length_] = Load<Real>(row + number * kLanes, kLanes);
      }
      if (rest) to[whole * length_] = Load<Real>(row + whole * kLanes, rest);
    }
  }

  // The way back; tokens that are not among the positions get 0.
  template <typename T>
  void Unpack(int64_t matrix, int64_t dim, const Panel& panel,
              const std::vector<int64_t>& positions, int64_t length, T* target) {
    const int64_t whole = panel.features / kLanes;
    const int rest = static_cast<int>(panel.features % kLanes);
    int64_t token = 0;
    for (size_t k = 0; k <= positions.size(); ++k) {
      const int64_t end = k < positions.size() ? positions[k] : length;
      for (; token < end; ++token) {
        std::memset(static_cast<void*>(target + token * dim), 0, panel.features * sizeof(T));
      }
      if (k == positions.size()) break;
      T* row = target + token * dim;
      const V* from = column(matrix, 0) + k;
      for (int64_t number = 0; number < whole; ++number) {
        Store<Real>(from[number * length_], row + number * kLanes, kLanes);
      }
      if (rest) Store<Real>(from[whole * length_], row + whole * kLanes, rest);
      ++token;
    }
  }

 private:
  static constexpr int kLanes = Vector<Real>::kLanes;

  struct Free {
    void operator()(V* memory) const {
      operator delete[](memory, std::align_val_t(kVectorBytes));
    }
  };
  int64_t columns_, length_;
  std::unique_ptr<V[], Free> memory_;
};

// Calls visit(Panel, Scratch&) for the columns [first, last), with room for so many matrices.
template <typename T, typename Visit>
void ForEachPanel(const Inputs<T>& in, int64_t first, int64_t last, int64_t matrices,
                  Visit visit) {
  const int64_t in_sentence = ColumnsOfSentence(in);
  const int64_t bytes = matrices * std::max<int64_t>(in.length, 1) * kVectorBytes;
  const int64_t most = std::min(in_sentence, std::max<int64_t>(kPanelBytes / bytes, 1));
  Scratch<typename Arithmetic<T>::Real> scratch(matrices, most, in.length);
  while (first < last) {
    const int64_t sentence = first / in_sentence, feature = first % in_sentence * Lanes<T>();
    const int64_t columns = std::min({most, last - first, (sentence + 1) * in_sentence - first});
    const int64_t features = std::min(columns * Lanes<T>(), in.dim - feature);
    visit(Panel{sentence, feature, columns, features}, scratch);
    first += columns;
  }
}

// r = 1 / (1 + e^(2(a+b)/c)) of a pair.
template <typename Real, bool kProduct>
struct Sigmoid {
  using V = typename Vector<Real>::V;
  Real factor;

  explicit Sigmoid(double scale) : factor(2.0 / scale * kLog2E) {}

  // kProduct: from e^(2a/c) and e^(2b/c), see `Exponentiate`. Otherwise: from a and b.
  inline V Of(V head, V dependent) const {
    if constexpr (kProduct) {
      return Vector<Real>::Reciprocal(head * dependent + Real(1));
    } else {
      // Beyond e^kSafe the tanh is 1. Comparisons leave NaN as it is.
      constexpr Real limit = kSafe * kLog2E;
      V power = (head + dependent) * factor;
      power = power > limit ? V{} + limit : power;
      power = power < -limit ? V{} - limit : power;
      return Vector<Real>::Reciprocal(Vector<Real>::Exp2(power) + Real(1));
    }
  }
};

// e^(c (1 - 2r)), the softmax weight before it is normalised.
template <typename Real>
struct Weight {
  using V = typename Vector<Real>::V;
  Real constant, slope;

  explicit Weight(double scale)
      : constant(scale * kLog2E), slope(-2.0 * scale * kLog2E) {}
  inline V Of(V r) const { return Vector<Real>::Exp2(r * slope + constant); }
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

// The pairs of the sentence that is worked on.
template <typename T>
class PairsOfSentence {
 public:
  explicit PairsOfSentence(const Inputs<T>& in) : in_(in) {}

  const Pairs& Of(int64_t sentence) {
    if (sentence != sentence_) {
      const int64_t row = sentence * in_.length;
      pairs_.reset(new Pairs(in_.mask + row, in_.head_mask ? in_.head_mask + row : nullptr,
                             in_.length, in_.direction));
      sentence_ = sentence;
    }
    return *pairs_;
  }

 private:
  const Inputs<T>& in_;
  int64_t sentence_ = -1;
  std::unique_ptr<Pairs> pairs_;
};

// The forward pass over columns [first, last).
template <typename T>
class Forward {
  using Real = typename Arithmetic<T>::Real;
  using V = typename Vector<Real>::V;

 public:
  // context: <T>[batch, length, dim]. exact: the same before it is rounded to T, or null.
  // denominator: sums of the weights, <Real>[batch, length, dim], 0 where nothing is admitted.
  Forward(const Inputs<T>& in, T* context, Real* exact, Real* denominator)
      : in_(in), weight_(in.scale), context_(context), exact_(exact), denominator_(denominator) {}

  void Run(int64_t first, int64_t last) const {
    PairsOfSentence<T> pairs(in_);
    ForEachPanel(in_, first, last, kMatrices, [&](const Panel& panel, Scratch<Real>& scratch) {
      RunPanel(panel, pairs.Of(panel.sentence), scratch);
    });
  }

 private:
  enum { kHead, kDependent, kValue, kTotal, kSum, kMatrices };

  void RunPanel(const Panel& panel, const Pairs& pairs, Scratch<Real>& scratch) const {
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

  void RunColumn(const Pairs& pairs, V* head, V* dependent, const V* value, V* total,
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
  void Attend(const Pairs& pairs, V* head, V* dependent, const V* value, V* total,
              V* sum) const {
    const int64_t heads = pairs.heads().size(), dependents = pairs.dependents().size();
    if constexpr (kProduct) {
      Exponentiate<Real>(head, heads, in_.scale);
      Exponentiate<Real>(dependent, dependents, in_.scale);
    }
    const Sigmoid<Real, kProduct> sigmoid(in_.scale);
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

  const Inputs<T> in_;
  const Weight<Real> weight_;
  T* const context_;
  Real* const exact_;
  Real* const denominator_;
};

// The gradient over columns [first, last). With p the attention and g the upstream gradient:
//   dv_i = sum_j p_ij g_j
//   d(b_i + a_j) = p_ij g_j (v_i - s_j) (1 - tanh^2), where 1 - tanh^2 = 4 r (1 - r)
template <typename T>
class Backward {
  using Real = typename Arithmetic<T>::Real;
  using V = typename Vector<Real>::V;

 public:
  // exact and denominator: of the forward pass, <Real>[batch, length, dim].
  Backward(const Inputs<T>& in, const T* upstream, const Real* exact, const Real* denominator,
           T* head_gradient, T* dependent_gradient, T* value_gradient)
      : in_(in), weight_(in.scale), upstream_(upstream), exact_(exact),
        denominator_(denominator), head_gradient_(head_gradient),
        dependent_gradient_(dependent_gradient), value_gradient_(value_gradient) {}

  void Run(int64_t first, int64_t last) const {
    PairsOfSentence<T> pairs(in_);
    ForEachPanel(in_, first, last, kMatrices, [&](const Panel& panel, Scratch<Real>& scratch) {
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

  void RunPanel(const Panel& panel, const Pairs& pairs, Scratch<Real>& scratch) const {
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
  void RunColumn(const Pairs& pairs, const Packed& packed) const {
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
  void Attend(const Pairs& pairs, const Packed& packed) const {
    const int64_t heads = pairs.heads().size(), dependents = pairs.dependents().size();
    if constexpr (kProduct) {
      Exponentiate<Real>(packed.head, heads, in_.scale);
      Exponentiate<Real>(packed.dependent, dependents, in_.scale);
    }
    const Sigmoid<Real, kProduct> sigmoid(in_.scale);
    for (int64_t start = 0; start < heads; start += kTile) {
      const Range tile = {start, std::min(start + kTile, heads)};
      for (int64_t i = 0; i < dependents; ++i) {
        pairs.HeadsOf(i, tile, [&](Range range) { AttendFrom(sigmoid, i, range, packed); });
      }
    }
  }

  // All pairs of one dependent with a range of heads.
  template <bool kProduct>
  inline void AttendFrom(const Sigmoid<Real, kProduct>& sigmoid, int64_t i, Range range,
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

  const Inputs<T> in_;
  const Weight<Real> weight_;
  const T* const upstream_;
  const Real* const exact_;
  const Real* const denominator_;
  T* const head_gradient_;
  T* const dependent_gradient_;
  T* const value_gradient_;
};

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_KERNEL_H_
