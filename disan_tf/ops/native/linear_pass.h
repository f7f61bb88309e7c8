// What the linear attention and its gradient share: which columns (panels.h) are interpolated and
// with which rank, and the order in which their tokens are visited.
//
// A column whose heads lie too far apart for the largest rank, or which has so few pairs that they
// cost less, is computed exactly, by attention.h. "diagonal" is the sum of both sides.

#ifndef DISAN_TF_OPS_NATIVE_LINEAR_PASS_H_
#define DISAN_TF_OPS_NATIVE_LINEAR_PASS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "attention.h"
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
    if (!visits || !ranks_.pairs_per_node) return kMaxRank;
    return taking_part.pairs / visits / ranks_.pairs_per_node;  // their product could overflow
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

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_LINEAR_PASS_H_
