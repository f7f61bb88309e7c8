// Random problems for bias and activation, the fusion gate and the softmax pool, and their results.

#ifndef TESTS_OPS_NATIVE_ELEMENTWISE_PROBLEMS_H_
#define TESTS_OPS_NATIVE_ELEMENTWISE_PROBLEMS_H_

#include <cmath>
#include <vector>

#include "elementwise.h"
#include "fusion_gate.h"
#include "fuzz.h"
#include "softmax_pool.h"

namespace disan {

constexpr float kLeak = 0.01f;  // the slope of LeakyReLU

inline double Activated(Activation activation, double x) {
  if (activation == Activation::kElu) return x > 0.0 ? x : std::expm1(x);
  if (activation == Activation::kRelu) return x < 0.0 ? 0.0 : x;
  if (activation == Activation::kLeakyRelu) return x < 0.0 ? kLeak * x : x;
  return x;
}

inline double SlopeAt(Activation activation, double y) {
  if (activation == Activation::kElu) return y > 0.0 ? 1.0 : y + 1.0;
  if (activation == Activation::kLeakyRelu) return y > 0.0 ? 1.0 : kLeak;
  return activation == Activation::kLinear || y > 0.0 ? 1.0 : 0.0;
}

template <typename T, Activation kActivation>
struct ActivationProblem {
  const int64_t rows = RandomRows(), dim = Whole(0, 40);
  const Array<T> x = Numbers<T>(rows * dim), bias = Numbers<T>(dim), y{rows * dim};
  const Array<T> upstream = Numbers<T>(rows * dim), x_gradient{rows * dim}, bias_gradient{dim};

  ActivationProblem() {
    const bool in_place = Chance(0.5);
    if (in_place) std::copy(x.data.get(), x.data.get() + x.size, y.data.get());
    InPieces(rows, [&](int64_t first, int64_t last) {
      BiasActivation<T, kActivation>((in_place ? y : x).data.get(), bias.data.get(), kLeak, dim,
                                     first, last, y.data.get());
    });
    const Array<float> partial(Blocks(rows) * dim);
    InPieces(Blocks(rows), [&](int64_t first, int64_t last) {
      BiasActivationGradient<T, kActivation>(
          upstream.data.get(), kIsLinear ? nullptr : y.data.get(), kLeak, rows, dim, first, last,
          kIsLinear ? nullptr : x_gradient.data.get(), partial.data.get());
    });
    AddBlocks(partial.data.get(), Blocks(rows), dim, bias_gradient.data.get());
  }

  bool Succeeds() const {
    std::vector<double> sums(dim), sizes(dim);
    bool good = true;
    for (int64_t k = 0; k < rows * dim; ++k) {
      const double a = ToDouble(x[k]), b = ToDouble(bias[k % dim]), up = ToDouble(upstream[k]);
      const double gradient = up * SlopeAt(kActivation, ToDouble(y[k]));
      good &= IsClose("y", k, y[k], Activated(kActivation, a + b),
                      std::fabs(a) + std::fabs(b) + (kActivation == Activation::kElu));
      good &= kIsLinear || IsClose("x gradient", k, x_gradient[k], gradient, std::fabs(up));
      sums[k % dim] += gradient;
      sizes[k % dim] += std::fabs(up);
    }
    for (int64_t k = 0; k < dim; ++k) {
      good &= IsClose("bias gradient", k, bias_gradient[k], sums[k], sizes[k]);
    }
    return good;
  }

  static constexpr bool kIsLinear = kActivation == Activation::kLinear;
};

template <typename T>
struct GateProblem {
  const int64_t rows = RandomRows(), dim = Whole(0, 40), size = rows * dim;
  const Array<T> token = Numbers<T>(size), context = Numbers<T>(size), bias = Numbers<T>(dim);
  const Array<T> h = Numbers<T>(size), s = Numbers<T>(size), upstream = Numbers<T>(size);
  const Array<bool> mask = Mask(rows);
  const Array<T> u{size}, gate{size}, inner{size}, to_h{size}, to_s{size}, to_bias{dim};

  GateProblem() {
    for (const auto* array : {&token, &context, &h, &s, &upstream}) Hide(mask, dim, *array);
    const FusionGate<T> pass = {rows, dim, token.data.get(), context.data.get(), bias.data.get(),
                                h.data.get(), s.data.get(), mask.data.get()};
    InPieces(rows, [&](int64_t first, int64_t last) {
      pass.Run(first, last, u.data.get(), gate.data.get());
    });
    const Array<float> partial(Blocks(rows) * dim);
    const FusionGateGradient<T> back = {rows, dim, upstream.data.get(), gate.data.get(),
                                        h.data.get(), s.data.get(), mask.data.get()};
    InPieces(Blocks(rows), [&](int64_t first, int64_t last) {
      back.Run(first, last, inner.data.get(), to_h.data.get(), to_s.data.get(),
               partial.data.get());
    });
    AddBlocks(partial.data.get(), Blocks(rows), dim, to_bias.data.get());
  }

  bool Succeeds() const {
    std::vector<double> sums(dim), sizes(dim);
    bool good = true;
    for (int64_t k = 0; k < size; ++k) {
      if (!mask[k / dim]) {
        for (const auto* array : {&gate, &u, &to_h, &to_s, &inner}) {
          good &= IsZero("masked", k, (*array)[k]);
        }
        continue;
      }
      const double up = ToDouble(upstream[k]), f = ToDouble(gate[k]);
      const double left = ToDouble(h[k]), right = ToDouble(s[k]);
      const double both = std::fabs(left) + std::fabs(right);
      const double gradient = up * (1.0 - f) * f * (left - right);
      good &= Mixes(k, left, right) & IsClose("h gradient", k, to_h[k], up * f, std::fabs(up));
      good &= IsClose("s gradient", k, to_s[k], up * (1.0 - f), std::fabs(up));
      good &= IsClose("inner", k, inner[k], gradient, std::fabs(up) * both);
      sums[k % dim] += gradient;
      sizes[k % dim] += std::fabs(up) * both;
    }
    for (int64_t k = 0; k < dim; ++k) good &= IsClose("bias", k, to_bias[k], sums[k], sizes[k]);
    return good;
  }

  bool Mixes(int64_t k, double left, double right) const {
    const double t = ToDouble(token[k]), c = ToDouble(context[k]), b = ToDouble(bias[k % dim]);
    const double f = 1.0 / (1.0 + std::exp(-(t + c + b)));
    const double slack = f * (1.0 - f) * (std::fabs(t) + std::fabs(c) + std::fabs(b));
    return IsClose("gate", k, gate[k], f, f + slack) &
           IsClose("u", k, u[k], f * left + (1.0 - f) * right,
                   (f + slack) * std::fabs(left) + (1.0 + slack) * std::fabs(right));
  }
};

template <typename T>
struct PoolProblem {
  const bool is_long = Chance(0.01), is_wide = is_long && Chance(0.3);  // more than one panel
  const int64_t batch = Whole(0, 3), length = is_long ? Whole(150, 210) : Whole(0, 10);
  const int64_t dim = is_wide ? Whole(160, 200) : Whole(1, 40), size = batch * length * dim;
  const Array<T> logits = Numbers<T>(size), x = Numbers<T>(size), s{batch * dim};
  const Array<T> upstream = Numbers<T>(batch * dim), to_logits{size}, to_x{size};
  const Array<bool> mask = Mask(batch * length);

  PoolProblem() {
    for (const auto* array : {&logits, &x}) Hide(mask, dim, *array);
    const SoftmaxPool<T> pool(batch, length, dim, logits.data.get(), x.data.get(), mask.data.get());
    InPieces(pool.columns(), [&](int64_t first, int64_t last) {
      pool.Run(first, last, s.data.get());
    });
    InPieces(pool.columns(), [&](int64_t first, int64_t last) {
      pool.Gradient(first, last, upstream.data.get(), to_logits.data.get(), to_x.data.get());
    });
  }

  bool Succeeds() const {
    bool good = true;
    for (int64_t column = 0; column < batch * dim; ++column) good &= IsRight(column);
    return good;
  }

  bool IsRight(int64_t column) const {
    std::vector<int64_t> seen;
    double greatest = -kInfinity, sum = 0.0, mean = 0.0, mean_size = 0.0;
    bool good = true;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t row = column / dim * length + i, at = row * dim + column % dim;
      if (mask[row]) {
        seen.push_back(at);
        greatest = std::fmax(greatest, ToDouble(logits[at]));
      } else {
        good &= IsZero("masked x gradient", at, to_x[at]);
        good &= IsZero("masked logits gradient", at, to_logits[at]);
      }
    }
    const auto weight = [&](int64_t at) { return std::exp(ToDouble(logits[at]) - greatest); };
    for (int64_t at : seen) sum += weight(at);
    for (int64_t at : seen) {
      mean += weight(at) / sum * ToDouble(x[at]);
      mean_size += weight(at) / sum * std::fabs(ToDouble(x[at]));
    }
    for (int64_t at : seen) {
      const double p = weight(at) / sum * ToDouble(upstream[column]), value = ToDouble(x[at]);
      // A float loses more bits of a greater exponent.
      const double size = std::fabs(p) * (1.0 + 0.1 * (greatest - ToDouble(logits[at])));
      good &= IsClose("x gradient", at, to_x[at], p, size);
      good &= IsClose("logits gradient", at, to_logits[at], p * (value - mean),
                      size * (std::fabs(value) + mean_size));
    }
    return good & IsClose("s", column, s[column], mean, mean_size);
  }
};

}  // namespace disan

#endif  // TESTS_OPS_NATIVE_ELEMENTWISE_PROBLEMS_H_
