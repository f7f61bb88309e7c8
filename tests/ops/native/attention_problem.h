// Random problems for the attention, and their results by a naive reading of the formulas.

#ifndef TESTS_OPS_NATIVE_ATTENTION_PROBLEM_H_
#define TESTS_OPS_NATIVE_ATTENTION_PROBLEM_H_

#include <cmath>
#include <vector>

#include "attention.h"
#include "fuzz.h"

namespace disan {

enum Argument { kHead, kDependent, kValue, kUpstream, kArguments };
enum Output { kContext, kHeadGradient, kDependentGradient, kValueGradient, kOutputs };

// A random problem. Most are small; some are longer than a tile, and of these some have more
// columns than a panel, but few heads, so that the reference stays cheap.
template <typename T>
struct Problem {
  const bool is_long = Chance(0.01), is_wide = is_long && Chance(0.1);
  const int64_t batch = Whole(1, 3), length = is_long ? Whole(90, 210) : Whole(1, 10);
  const int64_t dim = is_wide ? Whole(120, 160) : is_long ? Whole(1, 4) : Whole(1, 40);
  const Direction direction = static_cast<Direction>(Whole(0, 2));
  const double scale = std::vector<double>{0.5, 1.0, 5.0, 40.0, 3.3}[Whole(0, 4)];
  const bool has_head_mask = is_wide || Chance(0.5);
  Array<bool> mask{batch * length}, head_mask{batch * length};
  std::vector<Array<T>> arguments;

  Problem() {
    const double density = std::vector<double>{0.0, 0.3, 0.8, 1.0}[Whole(0, 3)];
    for (int64_t row = 0; row < mask.size; ++row) {
      mask[row] = Chance(density);
      head_mask[row] = Chance(is_wide ? 0.03 : 0.5);
    }
    for (int k = 0; k < kArguments; ++k) arguments.emplace_back(batch * length * dim);
    for (const auto& argument : arguments) Fill(argument, Magnitude());
    if (Chance(0.15)) Oppose();
    if (Chance(0.1)) Spoil();
    if (Chance(0.3)) HideNan();
  }

  AttentionInputs<T> inputs() const {
    return {batch, length, dim, direction, scale, arguments[kHead].data.get(),
            arguments[kDependent].data.get(), arguments[kValue].data.get(), mask.data.get(),
            has_head_mask ? head_mask.data.get() : nullptr};
  }
  bool IsHead(int64_t row) const { return !has_head_mask || head_mask[row]; }
  bool Admits(int64_t sentence, int64_t j, int64_t i) const {
    const bool ordered = direction == Direction::kForward    ? i < j
                         : direction == Direction::kBackward ? i > j
                                                             : i != j;
    return ordered && mask[sentence * length + i] && IsHead(sentence * length + j);
  }

 private:
  static void Fill(const Array<T>& array, double size) {
    for (int64_t k = 0; k < array.size; ++k) array[k] = FromDouble<T>(size * Normal());
  }
  // Heads far from 0 and dependents as far on the other side, in one feature or in all: at 1e4, or
  // just where products of exponentials are still used.
  void Oppose() {
    const int64_t only = Chance(0.5) ? Whole(0, dim - 1) : -1;
    const double size = Chance(0.5) ? 1e4 : 19.0 * scale;
    for (int64_t k = 0; k < arguments[kHead].size; ++k) {
      if (only >= 0 && k % dim != only) continue;
      arguments[kHead][k] = FromDouble<T>(size);
      arguments[kDependent][k] = FromDouble<T>(-size + 0.2 * scale * Normal());
    }
  }
  void Spoil() {
    const double bad[] = {kNan, kInfinity, -kInfinity};
    for (int64_t count = Whole(1, 3); count; --count) {
      const auto& array = arguments[Whole(0, kArguments - 1)];
      array[Whole(0, array.size - 1)] = FromDouble<T>(bad[Whole(0, 2)]);
    }
  }
  // NaN in the rows that must not be read.
  void HideNan() {
    for (int64_t k = 0; k < arguments[kHead].size; ++k) {
      const int64_t row = k / dim;
      for (int argument : {kHead, kUpstream}) {
        if (!IsHead(row)) arguments[argument][k] = FromDouble<T>(kNan);
      }
      for (int argument : {kDependent, kValue}) {
        if (!mask[row]) arguments[argument][k] = FromDouble<T>(kNan);
      }
    }
  }
};

// Sums, and the sums of their terms' sizes.
struct Reference {
  explicit Reference(int64_t size)
      : sums(kOutputs, std::vector<double>(size)), sizes(kOutputs, std::vector<double>(size)) {}
  void Add(Output output, int64_t index, double term, double size) {
    sums[output][index] += term;
    sizes[output][index] += size;
  }
  std::vector<std::vector<double>> sums, sizes;
};

// Adds the context and the gradients of head `j` of a sentence in one feature.
template <typename T>
void AddHead(const Problem<T>& problem, int64_t sentence, int64_t j, int64_t feature,
             Reference* reference) {
  const auto index = [&](int64_t i) {
    return (sentence * problem.length + i) * problem.dim + feature;
  };
  const auto at = [&](Argument k, int64_t i) {
    return ToDouble(problem.arguments[k][index(i)]);
  };
  std::vector<int64_t> seen;
  std::vector<double> tanh, weight;
  double sum = 0.0, mean = 0.0, size = 0.0;
  for (int64_t i = 0; i < problem.length; ++i) {
    if (!problem.Admits(sentence, j, i)) continue;
    seen.push_back(i);
    tanh.push_back(std::tanh((at(kDependent, i) + at(kHead, j)) / problem.scale));
    weight.push_back(std::exp(problem.scale * tanh.back()));
    sum += weight.back();
  }
  for (size_t k = 0; k < seen.size(); ++k) {
    const double value = at(kValue, seen[k]);
    mean += weight[k] / sum * value;
    size += weight[k] / sum * std::fabs(value);
  }
  reference->Add(kContext, index(j), mean, size);
  for (size_t k = 0; k < seen.size(); ++k) {
    const double value = at(kValue, seen[k]), pulled = weight[k] / sum * at(kUpstream, j);
    const double slope = pulled * (value - mean) * (1.0 - tanh[k] * tanh[k]);
    const double slope_size = std::fabs(pulled) * (std::fabs(value) + size);
    reference->Add(kHeadGradient, index(j), slope, slope_size);
    reference->Add(kDependentGradient, index(seen[k]), slope, slope_size);
    reference->Add(kValueGradient, index(seen[k]), pulled, std::fabs(pulled));
  }
}

}  // namespace disan

#endif  // TESTS_OPS_NATIVE_ATTENTION_PROBLEM_H_
