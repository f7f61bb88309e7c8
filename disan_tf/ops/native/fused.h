// What stands between the matrix products, each in one pass over memory: bias and activation, the
// fusion gate (DiSAN Eq. 19 and 20), and source2token's softmax and sum (Eq. 13).
//
// Sums over rows (bias gradients) are made for blocks of rows of a fixed size first, then over the
// blocks in order, so that they do not depend on the number of threads.

#ifndef DISAN_TF_OPS_NATIVE_FUSED_H_
#define DISAN_TF_OPS_NATIVE_FUSED_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernel.h"
#include "vectors.h"

namespace disan {

enum class Activation { kLinear, kElu, kRelu, kLeakyRelu };

constexpr int64_t kBlockRows = 64;

inline int64_t Blocks(int64_t rows) { return (rows + kBlockRows - 1) / kBlockRows; }

using Floats = Vector<float>::V;
constexpr int kFloatLanes = Vector<float>::kLanes;

// Calls visit(offset, count) for each vector of a row.
template <typename Visit>
inline void ForEachVector(int64_t dim, Visit visit) {
  int64_t offset = 0;
  for (; offset + kFloatLanes <= dim; offset += kFloatLanes) visit(offset, kFloatLanes);
  if (offset < dim) visit(offset, static_cast<int>(dim - offset));
}

// e^x for x <= 0; NaN stays NaN.
inline Floats ExpNegative(Floats x) {
  const Floats power = x * float(kLog2E);
  return Vector<float>::Exp2(power < -126.0f ? Floats{} - 126.0f : power);
}

// `slope` is that of kLeakyRelu for numbers below 0, positive; the others have no use for it.
template <Activation kActivation>
inline Floats Activate(Floats x, float slope) {
  if constexpr (kActivation == Activation::kElu) {
    const Floats below = ExpNegative(x > 0.0f ? Floats{} : x) - 1.0f;
    return x >= 0.0f ? x : below;  // 0 stays 0, which 2^0 - 1 is not to the last bit
  }
  if constexpr (kActivation == Activation::kRelu) return x < 0.0f ? Floats{} : x;
  if constexpr (kActivation == Activation::kLeakyRelu) return x < 0.0f ? x * slope : x;
  return x;
}

// The derivative, from the activation's result.
template <Activation kActivation>
inline Floats Slope(Floats y, float slope) {
  if constexpr (kActivation == Activation::kElu) return y > 0.0f ? Floats{} + 1.0f : y + 1.0f;
  if constexpr (kActivation == Activation::kRelu) return y > 0.0f ? Floats{} + 1.0f : Floats{};
  if constexpr (kActivation == Activation::kLeakyRelu) {
    return y > 0.0f ? Floats{} + 1.0f : Floats{} + slope;
  }
  return Floats{} + 1.0f;
}

// y = activation(x + bias) for rows [first, last) of [rows, dim]; y may be x.
template <typename T, Activation kActivation>
void BiasActivation(const T* x, const T* bias, float slope, int64_t dim, int64_t first,
                    int64_t last, T* y) {
  for (int64_t row = first; row < last; ++row) {
    ForEachVector(dim, [&](int64_t offset, int count) {
      const Floats sum = Load<float>(x + row * dim + offset, count) +
                         Load<float>(bias + offset, count);
      Store<float>(Activate<kActivation>(sum, slope), y + row * dim + offset, count);
    });
  }
}

// The gradient for blocks [first, last): x_gradient (not written for kLinear, which hands the
// upstream gradient on), and the sums of its rows in partial[block].
template <typename T, Activation kActivation>
void BiasActivationGradient(const T* upstream, const T* y, float slope, int64_t rows,
                            int64_t dim, int64_t first, int64_t last, T* x_gradient,
                            float* partial) {
  for (int64_t block = first; block < last; ++block) {
    float* sums = partial + block * dim;
    std::fill(sums, sums + dim, 0.0f);
    const int64_t end = std::min(rows, (block + 1) * kBlockRows);
    for (int64_t row = block * kBlockRows; row < end; ++row) {
      ForEachVector(dim, [&](int64_t offset, int count) {
        const int64_t at = row * dim + offset;
        Floats gradient = Load<float>(upstream + at, count);
        if constexpr (kActivation != Activation::kLinear) {
          gradient *= Slope<kActivation>(Load<float>(y + at, count), slope);
          Store<float>(gradient, x_gradient + at, count);
        }
        Store<float>(Load<float>(sums + offset, count) + gradient, sums + offset, count);
      });
    }
  }
}

// bias_gradient = the sum of `blocks` partial sums.
template <typename T>
void AddBlocks(const float* partial, int64_t blocks, int64_t dim, T* bias_gradient) {
  ForEachVector(dim, [&](int64_t offset, int count) {
    Floats sum = {};
    for (int64_t block = 0; block < blocks; ++block) {
      sum += Load<float>(partial + block * dim + offset, count);
    }
    Store<float>(sum, bias_gradient + offset, count);
  });
}

// y = the sum of several x, for entries [first, last).
template <typename T>
void Sum(const std::vector<const T*>& x, int64_t first, int64_t last, T* y) {
  ForEachVector(last - first, [&](int64_t offset, int count) {
    Floats sum = Load<float>(x[0] + first + offset, count);
    for (size_t k = 1; k < x.size(); ++k) sum += Load<float>(x[k] + first + offset, count);
    Store<float>(sum, y + first + offset, count);
  });
}

// A step of Adadelta (Zeiler 2012, algorithm 1) for entries [first, last), in place.
struct Adadelta {
  static constexpr int kVariables = 3;
  static constexpr const char* kNames[] = {"weight", "squared_gradients", "squared_steps"};
  float learning_rate, rho, epsilon;

  void Run(const float* gradient, int64_t first, int64_t last, float* const* variables) const {
    float *weight = variables[0], *squared_gradients = variables[1], *squared_steps = variables[2];
    ForEachVector(last - first, [&](int64_t offset, int count) {
      const int64_t at = first + offset;
      const Floats g = Load<float>(gradient + at, count);
      const Floats old_steps = Load<float>(squared_steps + at, count);
      const Floats squares = Load<float>(squared_gradients + at, count) * rho +
                             g * g * (1.0f - rho);
      const Floats step =
          Vector<float>::SquareRoot((old_steps + epsilon) / (squares + epsilon)) * g;
      const Floats w = Load<float>(weight + at, count) - step * learning_rate;
      Store<float>(squares, squared_gradients + at, count);
      Store<float>(w, weight + at, count);
      Store<float>(old_steps * rho + step * step * (1.0f - rho), squared_steps + at, count);
    });
  }
};

// A step of RMSProp (Hinton 2012, lecture 6e) for entries [first, last), in place.
struct RmsProp {
  static constexpr int kVariables = 2;
  static constexpr const char* kNames[] = {"weight", "squared_gradients"};
  float learning_rate, rho, epsilon;

  void Run(const float* gradient, int64_t first, int64_t last, float* const* variables) const {
    float *weight = variables[0], *squared_gradients = variables[1];
    ForEachVector(last - first, [&](int64_t offset, int count) {
      const int64_t at = first + offset;
      const Floats g = Load<float>(gradient + at, count);
      const Floats squares = Load<float>(squared_gradients + at, count) * rho +
                             g * g * (1.0f - rho);
      const Floats step = g / (Vector<float>::SquareRoot(squares) + epsilon);
      Store<float>(squares, squared_gradients + at, count);
      Store<float>(Load<float>(weight + at, count) - step * learning_rate, weight + at, count);
    });
  }
};

// F = sigmoid(token + context + bias), u = F h + (1 - F) s, 0 where `mask` is false.
template <typename T>
struct Gate {
  int64_t rows, dim;
  const T *token, *context, *bias, *h, *s;
  const bool* mask;

  void Run(int64_t first, int64_t last, T* u, T* gate) const {
    for (int64_t row = first; row < last; ++row) {
      if (!mask[row]) {
        std::memset(static_cast<void*>(u + row * dim), 0, dim * sizeof(T));
        std::memset(static_cast<void*>(gate + row * dim), 0, dim * sizeof(T));
        continue;
      }
      ForEachVector(dim, [&](int64_t offset, int count) {
        const int64_t at = row * dim + offset;
        const Floats x = Load<float>(token + at, count) + Load<float>(context + at, count) +
                         Load<float>(bias + offset, count);
        const Floats f = Of(x);
        // Not s + f (h - s): a small h would drown in a large s although f is 1.
        const Floats left = Load<float>(h + at, count), right = Load<float>(s + at, count);
        const Floats mixed = f * left + (right - f * right);
        Store<float>(f, gate + at, count);
        Store<float>(mixed, u + at, count);
      });
    }
  }

  static inline Floats Of(Floats x) {
    constexpr float limit = 80.0f;  // e^80 fits
    x = x > limit ? Floats{} + limit : x;
    x = x < -limit ? Floats{} - limit : x;
    return Vector<float>::Reciprocal(Vector<float>::Exp2(x * float(-kLog2E)) + 1.0f);
  }
};

// The gradient for blocks [first, last). `inner` is that of token, context and each bias.
template <typename T>
struct GateGradient {
  int64_t rows, dim;
  const T *upstream, *gate, *h, *s;
  const bool* mask;

  void Run(int64_t first, int64_t last, T* inner, T* h_gradient, T* s_gradient,
           float* partial) const {
    for (int64_t block = first; block < last; ++block) {
      float* sums = partial + block * dim;
      std::fill(sums, sums + dim, 0.0f);
      const int64_t end = std::min(rows, (block + 1) * kBlockRows);
      for (int64_t row = block * kBlockRows; row < end; ++row) {
        if (!mask[row]) {
          for (T* gradient : {inner, h_gradient, s_gradient}) {
            std::memset(static_cast<void*>(gradient + row * dim), 0, dim * sizeof(T));
          }
          continue;
        }
        ForEachVector(dim, [&](int64_t offset, int count) {
          const int64_t at = row * dim + offset;
          const Floats up = Load<float>(upstream + at, count);
          const Floats f = Load<float>(gate + at, count);
          const Floats to_h = up * f, to_s = up - to_h;
          const Floats difference = Load<float>(h + at, count) - Load<float>(s + at, count);
          const Floats gradient = to_s * f * difference;
          Store<float>(to_h, h_gradient + at, count);
          Store<float>(to_s, s_gradient + at, count);
          Store<float>(gradient, inner + at, count);
          Store<float>(Load<float>(sums + offset, count) + gradient, sums + offset, count);
        });
      }
    }
  }
};

// s = sum_i softmax_i(logits) x_i over the tokens that `mask` admits, feature by feature, for
// columns [first, last); columns and panels are those of kernel.h.
template <typename T>
class Pool {
  using V = Floats;

 public:
  Pool(int64_t batch, int64_t length, int64_t dim, const T* logits, const T* x, const bool* mask)
      : in_{batch, length, dim, Direction::kForward, 1.0, logits, logits, x, mask, nullptr} {}

  int64_t columns() const { return Columns(in_); }

  // s: <T>[batch, dim].
  void Run(int64_t first, int64_t last, T* s) const {
    ForEachColumn(first, last, [&](V* weight, V* x, int64_t tokens, int64_t at, int count) {
      Store<float>(Weigh(weight, x, tokens), s + at, count);
    }, [](auto&&...) {});
  }

  // With p the weights and g the upstream gradient: dx_i = p_i g, dlogits_i = p_i g (x_i - s).
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
      const int64_t origin = panel.sentence * in_.length * in_.dim + panel.feature;
      scratch.Unpack(kX, in_.dim, panel, tokens, in_.length, logits_gradient + origin);
      scratch.Unpack(kWeight, in_.dim, panel, tokens, in_.length, x_gradient + origin);
    });
  }

 private:
  enum { kWeight, kX, kMatrices };

  // Calls visit_column(logits, x, tokens, where in [batch, dim], features) for each column, and
  // visit_panel(panel, scratch, positions of its tokens) after those of a panel.
  template <typename VisitColumn, typename VisitPanel>
  void ForEachColumn(int64_t first, int64_t last, VisitColumn visit_column,
                     VisitPanel visit_panel) const {
    PairsOfSentence<T> pairs(in_);
    ForEachPanel(in_, first, last, kMatrices, [&](const Panel& panel, Scratch<float>& scratch) {
      const auto& tokens = pairs.Of(panel.sentence).dependents();
      const int64_t origin = panel.sentence * in_.length * in_.dim + panel.feature;
      scratch.Pack(in_.head + origin, in_.dim, panel, tokens, kWeight);
      scratch.Pack(in_.value + origin, in_.dim, panel, tokens, kX);
      for (int64_t c = 0; c < panel.columns; ++c) {
        const int64_t offset = c * kFloatLanes;
        const int count = std::min<int64_t>(kFloatLanes, panel.features - offset);
        visit_column(scratch.column(kWeight, c), scratch.column(kX, c), tokens.size(),
                     panel.sentence * in_.dim + panel.feature + offset, count);
      }
      visit_panel(panel, scratch, tokens);
    });
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

  const Inputs<T> in_;
};

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_FUSED_H_
