// Random calls of the linear attention against a naive reading of the exact formulas.

#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <type_traits>

#include "attention_problem.h"
#include "linear_attention.h"
#include "linear_attention_gradient.h"

namespace disan {
namespace {

// By scale; narrower than disan_tf/ops/interpolation.py has them, so that all ranks occur.
const std::map<double, std::vector<float>> kWidest = {
    {0.5, {0.3, 0.6, 0.9, 1.1, 1.3, 1.5, 1.6}}, {1.0, {0.6, 1.2, 1.8, 2.2, 2.6, 2.9, 3.2}},
    {3.3, {1.1, 2.1, 3.2, 4.1, 4.9, 5.5, 6.0}}, {5.0, {1.9, 3.7, 5.6, 7.5, 8.9, 8.9, 8.9}},
    {40.0, {3.1, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0}}};
constexpr double kLinearTolerance = 1e-4;  // in units of the sum of the terms' sizes

template <typename T>
struct LinearResults {
  using Real = typename Arithmetic<T>::Real;

  // Columns in `pieces` random ranges, in any order.
  LinearResults(const Problem<T>& problem, const Ranks& ranks, int pieces)
      : exact(problem.arguments[0].size), denominator(exact.size), slope(exact.size) {
    const AttentionInputs<T> in = problem.inputs();
    for (int k = 0; k < kOutputs; ++k) outputs.emplace_back(exact.size);
    const bool rounds = std::is_same<T, BFloat16>::value;
    const auto data = [this](Output k) { return outputs[k].data.get(); };
    const LinearForward<T> forward(in, ranks, data(kContext), rounds ? exact.data.get() : nullptr,
                                   denominator.data.get(), slope.data.get());
    RunIn(pieces, in.columns(), forward);
    if (!rounds) std::memcpy(exact.data.get(), data(kContext), exact.size * sizeof(T));
    const LinearGradient<T> gradient(in, ranks, problem.arguments[kUpstream].data.get(),
                                     exact.data.get(), denominator.data.get(), slope.data.get(),
                                     data(kHeadGradient), data(kDependentGradient),
                                     data(kValueGradient));
    RunIn(pieces, in.columns(), gradient);
  }

  template <typename Pass>
  static void RunIn(int pieces, int64_t columns, const Pass& pass) {
    std::vector<int64_t> cuts = {0, columns};
    while (--pieces > 0) cuts.push_back(Whole(0, columns));
    std::sort(cuts.begin(), cuts.end());
    for (size_t k = cuts.size() - 1; k > 0; --k) pass.Run(cuts[k - 1], cuts[k]);
  }

  Array<Real> exact, denominator, slope;
  std::vector<Array<T>> outputs;
};

template <typename T>
bool AgreesWith(const Reference& reference, const Problem<T>& problem,
                const LinearResults<T>& results) {
  const char* names[] = {"context", "head gradient", "dependent gradient", "value gradient"};
  bool agree = true;
  for (int k = 0; k < kOutputs; ++k) {
    for (int64_t i = 0; i < results.exact.size; ++i) {
      // A value that is no number spoils its own dependent's gradient, with heads or without.
      if (!std::isfinite(ToDouble(problem.arguments[kValue][i]))) continue;
      const double sum = reference.sums[k][i], size = reference.sizes[k][i];
      const double actual = ToDouble(results.outputs[k][i]);
      const double most = kLinearTolerance * size + kRounding<T> * std::fabs(sum) + 1e-38;
      if (std::isfinite(sum) ? std::fabs(actual - sum) <= most : !std::isfinite(actual)) continue;
      if (agree) {
        std::printf("%s[%d] is %.9g, expected %.9g; its terms: %.9g; scale %g, direction %d\n",
                    names[k], static_cast<int>(i), actual, sum, size, problem.scale,
                    static_cast<int>(problem.direction));
      }
      agree = false;
    }
  }
  return agree;
}

template <typename T>
bool LinearSucceeds() {
  const Problem<T> problem;
  const Ranks ranks = {kWidest.at(problem.scale), Chance(0.05) ? int64_t{1} << 62 : Whole(0, 1)};
  const LinearResults<T> results(problem, ranks, 1), pieces(problem, ranks, Whole(2, 5));
  bool same = true;
  for (int k = 0; k < kOutputs; ++k) same &= SameBits(results.outputs[k], pieces.outputs[k]);
  if (!same) std::printf("the results depend on how the columns are cut\n");
  Reference reference(results.exact.size);
  for (int64_t k = 0; k < results.exact.size; ++k) {
    const int64_t token = k / problem.dim;
    AddHead(problem, token / problem.length, token % problem.length, k % problem.dim, &reference);
  }
  return same & AgreesWith(reference, problem, results);
}

}  // namespace
}  // namespace disan

int main(int count, char** arguments) {
  using namespace disan;
  const int calls = ReadArguments(count, arguments), singles = calls / 2, halves = calls / 4;
  int failures = Fuzz("float", singles, {LinearSucceeds<float>});
  failures += Fuzz("bfloat16", halves, {LinearSucceeds<BFloat16>});
  failures += Fuzz("double", calls - singles - halves, {LinearSucceeds<double>});
  return failures ? 1 : 0;
}
