// Random calls of the attention against a naive reading of its formulas in double precision.

#include <cmath>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "attention_gradient.h"
#include "attention_problem.h"

namespace disan {
namespace {

// How far a result may be off, in units of the sum of its terms' sizes for scale 5 and below
// (rounding the logits costs more for larger scales), and relative to itself for its own rounding.
template <typename T>
constexpr double kAttentionTolerance = 5e-6;
template <>
constexpr double kAttentionTolerance<double> = 2e-14;
constexpr double kSubnormal = 1e-38;  // floats below it have fewer bits

template <typename T>
struct Results {
  using Real = typename Arithmetic<T>::Real;

  // Columns in `pieces` random ranges, in any order.
  Results(const Problem<T>& problem, int pieces) : exact(problem.arguments[0].size),
                                                   denominator(exact.size) {
    const AttentionInputs<T> in = problem.inputs();
    for (int k = 0; k < kOutputs; ++k) outputs.emplace_back(exact.size);
    const bool rounds = std::is_same<T, BFloat16>::value;
    const auto data = [this](Output k) { return outputs[k].data.get(); };
    const AttentionForward<T> forward(in, data(kContext), rounds ? exact.data.get() : nullptr,
                                      denominator.data.get());
    RunIn(pieces, in.columns(), forward);
    if (!rounds) std::memcpy(exact.data.get(), data(kContext), exact.size * sizeof(T));
    const AttentionGradient<T> gradient(in, problem.arguments[kUpstream].data.get(),
                                        exact.data.get(), denominator.data.get(),
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

  Array<Real> exact, denominator;
  std::vector<Array<T>> outputs;
};

// Whether `actual` is `sum` within the tolerance; exactly so where nothing is summed.
bool IsWithin(double actual, double sum, double size, double tolerance, double rounding) {
  if (!std::isfinite(sum)) return !std::isfinite(actual);
  return std::fabs(actual - sum) <= tolerance * size + rounding * std::fabs(sum) + kSubnormal;
}

template <typename T>
bool Agree(const Problem<T>& problem, const Results<T>& results, const Reference& reference) {
  const char* names[] = {"context", "head gradient", "dependent gradient", "value gradient"};
  const double tolerance = kAttentionTolerance<T> * std::max(1.0, problem.scale / 5.0);
  bool agree = true;
  for (int k = 0; k < kOutputs; ++k) {
    for (int64_t i = 0; i < results.exact.size; ++i) {
      const double sum = reference.sums[k][i], size = reference.sizes[k][i];
      const double actual = ToDouble(results.outputs[k][i]);
      bool close = IsWithin(actual, sum, size, tolerance, kRounding<T>);
      if (k == kContext) close &= IsWithin(ToDouble(results.exact[i]), sum, size, tolerance, 0.0);
      if (!close && agree) {
        std::printf("%s[%d] is %.9g, expected %.9g; its terms: %.9g; scale %g, direction %d\n",
                    names[k], static_cast<int>(i), actual, sum, size, problem.scale,
                    static_cast<int>(problem.direction));
      }
      agree &= close;
    }
  }
  return agree;
}

// Whether both passes visit exactly the admitted pairs: what is not selected costs nothing.
template <typename T>
bool VisitsWhatIsAdmitted(const Problem<T>& problem) {
  const bool* selected = problem.has_head_mask ? problem.head_mask.data.get() : nullptr;
  bool exact = true;
  for (int64_t b = 0; b < problem.batch; ++b) {
    const int64_t row = b * problem.length;
    const AdmissiblePairs pairs(problem.mask.data.get() + row, selected ? selected + row : nullptr,
                      problem.length, problem.direction);
    const Range heads = {0, static_cast<int64_t>(pairs.heads().size())};
    const Range dependents = {0, static_cast<int64_t>(pairs.dependents().size())};
    int64_t admitted = 0, forward = 0, backward = 0;
    for (int64_t pair = 0; pair < problem.length * problem.length; ++pair) {
      admitted += problem.Admits(b, pair / problem.length, pair % problem.length);
    }
    for (int64_t j = 0; j < heads.end; ++j) {
      pairs.DependentsOf(j, dependents, [&](Range range) { forward += range.end - range.begin; });
    }
    for (int64_t i = 0; i < dependents.end; ++i) {
      pairs.HeadsOf(i, heads, [&](Range range) { backward += range.end - range.begin; });
    }
    exact &= forward == admitted && backward == admitted;
  }
  if (!exact) std::printf("the pairs visited are not the pairs admitted\n");
  return exact;
}

template <typename T>
bool AttentionSucceeds() {
  const Problem<T> problem;
  const Results<T> results(problem, 1), pieces(problem, Whole(2, 5));
  bool same = true;
  for (int k = 0; k < kOutputs; ++k) same &= SameBits(results.outputs[k], pieces.outputs[k]);
  if (!same) std::printf("the results depend on how the columns are cut\n");
  Reference reference(results.exact.size);
  for (int64_t k = 0; k < results.exact.size; ++k) {
    const int64_t token = k / problem.dim;
    AddHead(problem, token / problem.length, token % problem.length, k % problem.dim, &reference);
  }
  return VisitsWhatIsAdmitted(problem) & same & Agree(problem, results, reference);
}

}  // namespace
}  // namespace disan

int main(int count, char** arguments) {
  using namespace disan;
  const int calls = ReadArguments(count, arguments), singles = calls / 2, halves = calls / 4;
  int failures = Fuzz("float", singles, {AttentionSucceeds<float>});
  failures += Fuzz("bfloat16", halves, {AttentionSucceeds<BFloat16>});
  failures += Fuzz("double", calls - singles - halves, {AttentionSucceeds<double>});
  return failures ? 1 : 0;
}
