// Directional attention in time linear in the length, to within 1e-4 of the exact one, and its
// gradient, without TensorFlow. With the two factors of a weight (interpolation.h)
//
//   N_j = sum_r L_r(a_j) sum_i K_r(b_i) v_i,   D_j = sum_r L_r(a_j) sum_i K_r(b_i),   s_j = N_j / D_j
//
// where the sums over the dependents i that j may attend to are running sums over the tokens. So
// is, with h_j = g_j / D_j of the upstream gradient g, what the gradients need:
//
//   dv_i = sum_r K_r(b_i) G_r,   db_i = sum_r K'_r(b_i) (v_i G_r - Q_r),
//   G_r = sum_j L_r(a_j) h_j,    Q_r = sum_j L_r(a_j) h_j s_j
//   da_j = h_j (N'_j - D'_j s_j), with K' in place of K in N and D
//
// A column (panels.h) whose heads lie too far apart for the largest rank, or which has so few pairs
// that they cost less, is computed exactly, by attention.h. "diagonal" is the sum of both sides.

#ifndef DISAN_TF_OPS_NATIVE_LINEAR_ATTENTION_H_
#define DISAN_TF_OPS_NATIVE_LINEAR_ATTENTION_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "attention.h"
#include "attention_gradient.h"
#include "interpolation.h"

namespace disan {

// How ranks are chosen.
struct Ranks {
  // For the ranks kLeastRank, kLeastRank + kRankStep, ... the largest half-width of the heads.
  std::vector<float> widest;
  // What a node costs a token, in pairs: a column with fewer pairs is computed exactly.
  int64_t pairs_per_node;
};

// Tokens of which all columns are computed before the next: their rows stay in the cache.
constexpr int64_t kRowsTogether = 16;

// The tokens of a sentence that take part, and the number of pairs that may attend.
struct TakingPart {
  std::vector<int64_t> tokens;
  std::vector<char> is_head, is_dependent;  // of every token of the sentence
  int64_t pairs = 0;

  template <typename T>
  TakingPart(const AttentionInputs<T>& in, int64_t sentence) {
    int64_t heads = 0, dependents = 0, both = 0, before = 0;
    for (int64_t token = 0; token < in.length; ++token) {
      const int64_t row = sentence * in.length + token;
      is_head.push_back(!in.head_mask || in.head_mask[row]);
      is_dependent.push_back(in.mask[row]);
      if (is_head.back() || is_dependent.back()) tokens.push_back(token);
      before += is_head.back() ? dependents : 0;
      heads += is_head.back();
      dependents += is_dependent.back();
      both += is_head.back() && is_dependent.back();
    }
    const int64_t all = heads * dependents - both;
    pairs = in.direction == Direction::kForward    ? before
            : in.direction == Direction::kBackward ? all - before
                                                   : all;
  }
};

// What both passes share: which columns are interpolated, and the order of their tokens.
template <typename T>
class LinearPass {
 protected:
  using Real = typename Arithmetic<T>::Real;
  using V = typename Vector<Real>::V;
  static constexpr int kLanes = Vector<Real>::kLanes;

  struct Column {
    int64_t origin;  // of its first token, in a [batch, length, dim] array
    int features;
    Interpolation<Real> interpolation;
    V sums[4][kMaxRank];
  };

  // Tokens that are computed together, in the order of the running sums; -1 = none.
  struct Block {
    int64_t tokens[kTogether];   // of the sentence
    int64_t numbers[kTogether];  // among those that take part
  };
  using Together = V[kTogether];

  // The sums of a first side, for the second one to add to.
  struct Partial {
    Scratch<Real>* memory;
    bool is_first;
  };

  LinearPass(const AttentionInputs<T>& in, const Ranks& ranks) : in_(in), ranks_(ranks) {
    for (size_t k = 0; k < ranks.widest.size(); ++k) {
      nodes_.emplace_back(kLeastRank + static_cast<int>(k) * kRankStep);
    }
  }

  // Calls exact(number) for the columns of [first, last) that are to be computed exactly,
  // clear(taking_part, column) for the others, and compute(block, column, taking_part, partial) for
  // their tokens in order, on one side or both. `sums` is how many sums a token has; `mirrored` is
  // whether the tokens before a head get what it sends, and not those after it.
  template <typename Exact, typename Clear, typename Compute>
  void RunColumns(int64_t first, int64_t last, int64_t sums, bool mirrored, Exact exact,
                  Clear clear, Compute compute) const {
    const int64_t in_sentence = ColumnsOfSentence<Real>(in_.dim);
    const bool two_sided = in_.direction == Direction::kDiagonal;
    const bool reverse = (in_.direction == Direction::kBackward) != mirrored;
    while (first < last) {
      const int64_t sentence = first / in_sentence;
      const int64_t end = std::min(last, (sentence + 1) * in_sentence);
      const TakingPart taking_part(in_, sentence);
      std::vector<Column> columns = Plan(first, end, taking_part, exact);
      first = end;
      for (const Column& column : columns) clear(taking_part, column);
      const auto count = static_cast<int64_t>(taking_part.tokens.size());
      Scratch<Real> memory(sums, 1, two_sided ? count : 0);
      const size_t together = two_sided ? 1 : columns.size();
      for (size_t k = 0; k < columns.size(); k += together) {
        for (int side = 0; side < 1 + two_sided; ++side) {
          const Partial partial = {two_sided ? &memory : nullptr, side == 0};
          Scan(taking_part, &columns[k], together, two_sided ? side == 1 : reverse,
               [&](const Block& block, Column& column) {
                 compute(block, column, taking_part, partial);
               });
        }
      }
    }
  }

  // Adds a block's sums to those of the first side, if this is the second. Returns whether they
  // are complete.
  static bool Complete(const Partial& partial, const Block& block, int64_t count, Together* sums) {
    if (!partial.memory) return true;
    for (int64_t k = 0; k < count; ++k) {
      for (int t = 0; t < kTogether; ++t) {
        if (block.numbers[t] < 0) continue;
        V& kept = partial.memory->column(k, 0)[block.numbers[t]];
        if (partial.is_first) {
          kept = sums[k][t];
        } else {
          sums[k][t] += kept;
        }
      }
    }
    return !partial.is_first;
  }

  V Read(const T* array, const Column& column, int64_t token) const {
    return Load<Real>(array + column.origin + token * in_.dim, column.features);
  }
  template <typename To>
  void Write(V vector, To* array, const Column& column, int64_t token) const {
    Store<Real>(vector, array + column.origin + token * in_.dim, column.features);
  }
  template <typename To>
  void Clear(const std::vector<char>& kept, const Column& column, To* array) const {
    for (int64_t token = 0; token < in_.length; ++token) {
      if (!kept[token]) Write(V{}, array, column, token);
    }
  }

  const AttentionInputs<T> in_;

 private:
  // The columns [first, last) of one sentence that are interpolated; calls exact(number) for the
  // others.
  template <typename Exact>
  std::vector<Column> Plan(int64_t first, int64_t last, const TakingPart& taking_part,
                           Exact exact) const {
    std::vector<Column> columns;
    std::vector<Extent> extents(last - first);
    const int64_t most = LargestRank(taking_part);
    if (most >= kLeastRank) Measure(first, taking_part, &extents);
    for (int64_t number = first; number < last; ++number) {
      const Extent& extent = extents[number - first];
      const V width = (extent.high - extent.low) * Real(0.5);
      const Nodes<Real>* nodes = nullptr;
      for (size_t k = 0; k < nodes_.size() && !nodes; ++k) {
        if (nodes_[k].rank <= most && All(extent.is_safe & (width <= Real(ranks_.widest[k])))) {
          nodes = &nodes_[k];
        }
      }
      if (!nodes) {
        exact(number);
        continue;
      }
      columns.push_back(At(number));
      columns.back().interpolation.Set(nodes, (extent.low + extent.high) * Real(0.5), width,
                                       in_.scale);
    }
    return columns;
  }

  // The rank from which exact pairs are cheaper.
  int64_t LargestRank(const TakingPart& taking_part) const {
    const int64_t sides = in_.direction == Direction::kDiagonal ? 2 : 1;
    const int64_t visits = sides * static_cast<int64_t>(taking_part.tokens.size());
    const int64_t cost = visits * ranks_.pairs_per_node;
    return cost ? taking_part.pairs / cost : kMaxRank;
  }

  Column At(int64_t number) const {
    const int64_t in_sentence = ColumnsOfSentence<Real>(in_.dim);
    const int64_t feature = number % in_sentence * kLanes;
    Column column;
    column.origin = number / in_sentence * in_.length * in_.dim + feature;
    column.features = static_cast<int>(std::min<int64_t>(kLanes, in_.dim - feature));
    return column;
  }

  // Where the heads of a column lie, and whether products of exponentials can be used in it.
  struct Extent {
    V low, high;
    decltype(V{} == V{}) is_safe = V{} == V{};  // false for NaN
  };

  void Measure(int64_t first, const TakingPart& taking_part, std::vector<Extent>* extents) const {
    const Real limit = kSafe * in_.scale / 2.0;
    const Column start = At(first);
    const int64_t feature = start.origin % in_.dim;
    bool is_first = true;
    for (int64_t token : taking_part.tokens) {
      const bool is_head = taking_part.is_head[token];
      const int64_t row = start.origin + token * in_.dim;
      for (size_t k = 0; k < extents->size(); ++k) {
        Extent& extent = (*extents)[k];
        const int features = std::min<int64_t>(kLanes, in_.dim - feature - k * kLanes);
        if (is_head) {
          const V head = Load<Real>(in_.head + row + k * kLanes, features);
          extent.is_safe &= (head <= limit) & (head >= -limit);
          extent.low = is_first ? head : head < extent.low ? head : extent.low;
          extent.high = is_first ? head : head > extent.high ? head : extent.high;
        }
        if (taking_part.is_dependent[token]) {
          const V dependent = Load<Real>(in_.dependent + row + k * kLanes, features);
          extent.is_safe &= (dependent <= limit) & (dependent >= -limit);
        }
      }
      is_first &= !is_head;
    }
  }

  template <typename Mask>
  static bool All(Mask mask) {
    for (int lane = 0; lane < kLanes; ++lane) {
      if (!mask[lane]) return false;
    }
    return true;
  }

  template <typename Visit>
  void Scan(const TakingPart& taking_part, Column* columns, size_t count, bool reverse,
            Visit visit) const {
    const auto tokens = static_cast<int64_t>(taking_part.tokens.size());
    for (size_t k = 0; k < count; ++k) {
      for (auto& sums : columns[k].sums) std::fill(sums, sums + kMaxRank, V{});
    }
    for (int64_t start = 0; start < tokens; start += kRowsTogether) {
      for (size_t k = 0; k < count; ++k) {
        for (int64_t place = start; place < std::min(start + kRowsTogether, tokens);
             place += kTogether) {
          Block block;
          for (int64_t t = 0; t < kTogether; ++t) {
            const int64_t number = reverse ? tokens - 1 - place - t : place + t;
            block.numbers[t] = place + t < tokens ? number : -1;
            block.tokens[t] = place + t < tokens ? taking_part.tokens[number] : -1;
          }
          visit(block, columns[k]);
        }
      }
    }
  }

  const Ranks ranks_;
  std::vector<Nodes<Real>> nodes_;
};

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

#endif  // DISAN_TF_OPS_NATIVE_LINEAR_ATTENTION_H_
