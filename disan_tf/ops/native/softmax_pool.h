// source2token's softmax and sum (DiSAN Eq. 13) in one pass over memory, feature by feature:
//
//   s = sum_i softmax_i(logits_i) x_i over the tokens i that `mask` admits.

#ifndef DISAN_TF_OPS_NATIVE_SOFTMAX_POOL_H_
#define DISAN_TF_OPS_NATIVE_SOFTMAX_POOL_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "panels.h"
#include "vectors.h"

namespace disan {

// logits and x are [batch, length, dim], mask is [batch, length].
template <typename T>
class SoftmaxPool {
  using V = Floats;

 public:
  SoftmaxPool(int64_t batch, int64_t length, int64_t dim, const T* logits, const T* x,
              const bool* mask)
      : batch_(batch), length_(length), dim_(dim), logits_(logits), x_(x), mask_(mask) {}

  int64_t columns() const { return Columns<float>(batch_, dim_); }

  // Columns [first, last) of s, <T>[batch, dim].
  void Run(int64_t first, int64_t last, T* s) const {
    ForEachColumn(first, last, [&](V* weight, V* x, int64_t tokens, int64_t at, int count) {
      Store<float>(Weigh(weight, x, tokens), s + at, count);
    }, [](auto&&...) {});
  }

  // Columns [first, last) of the gradients. With p the weights and g the upstream gradient:
  //   dx_i = p_i g, dlogits_i = p_i g (x_i - s).
  void Gradient(int64_t first, int64_t last, const T* upstream, T* logits_gradient,
                T* x_gradient) const {
    const auto derive = [&](V* weight, V* x, int64_t tokens, int64_t at, int count) {
      const V s = Weigh(weight, x, tokens);
      const V g = Load<float>(upstream + at, count);
      for (int64_t k = 0; k < tokens; ++k) {
        weight[k] *= g;
        x[k] = weight[k] * (x[k] - s);
      }
    };
    ForEachColumn(first, last, derive, [&](const Panel& panel, Scratch<float>& scratch,
                                           const std::vector<int64_t>& tokens) {
      const int64_t origin = panel.sentence * length_ * dim_ + panel.feature;
      scratch.Unpack(kX, dim_, panel, tokens, length_, logits_gradient + origin);
      scratch.Unpack(kWeight, dim_, panel, tokens, length_, x_gradient + origin);
    });
  }

 private:
  enum { kWeight, kX, kMatrices };

  // Calls visit_column(logits, x, tokens, where in [batch, dim], features) for each column, and
  // visit_panel(panel, scratch, positions of its tokens) after the columns of a panel.
  template <typename VisitColumn, typename VisitPanel>
  void ForEachColumn(int64_t first, int64_t last, VisitColumn visit_column,
                     VisitPanel visit_panel) const {
    int64_t sentence = -1;
    std::vector<int64_t> tokens;  // of the sentence
    ForEachPanel<float>(length_, dim_, first, last, kMatrices,
                        [&](const Panel& panel, Scratch<float>& scratch) {
      if (panel.sentence != sentence) {
        sentence = panel.sentence;
        tokens = TokensOf(sentence);
      }
      const int64_t origin = sentence * length_ * dim_ + panel.feature;
      scratch.Pack(logits_ + origin, dim_, panel, tokens, kWeight);
      scratch.Pack(x_ + origin, dim_, panel, tokens, kX);
      for (int64_t c = 0; c < panel.columns; ++c) {
        const int64_t offset = c * kFloatLanes;
        const int count = std::min<int64_t>(kFloatLanes, panel.features - offset);
        visit_column(scratch.column(kWeight, c), scratch.column(kX, c), tokens.size(),
                     sentence * dim_ + panel.feature + offset, count);
      }
      visit_panel(panel, scratch, tokens);
    });
  }

  std::vector<int64_t> TokensOf(int64_t sentence) const {
    std::vector<int64_t> tokens;
    tokens.reserve(length_);
    for (int64_t token = 0; token < length_; ++token) {
      if (mask_[sentence * length_ + token]) tokens.push_back(token);
    }
    return tokens;
  }

  // Turns logits into weights; returns s.
  static V Weigh(V* weight, const V* x, int64_t tokens) {
    if (tokens == 0) return V{};
    V greatest = weight[0];
    for (int64_t k = 1; k < tokens; ++k) greatest = weight[k] > greatest ? weight[k] : greatest;
    V sum = {}, result = {};
    for (int64_t k = 0; k < tokens; ++k) {
      weight[k] = ExpNegative(weight[k] - greatest);
      sum += weight[k];
      result += weight[k] * x[k];
    }
    const V inverse = 1.0f / sum;
    for (int64_t k = 0; k < tokens; ++k) weight[k] *= inverse;
    return result * inverse;
  }

  const int64_t batch_, length_, dim_;
  const T *const logits_, *const x_;
  const bool* const mask_;
};

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_SOFTMAX_POOL_H_
