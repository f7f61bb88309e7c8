// Random calls of pair_scores.h and recurrence.h against naive readings of their formulas.
//
//   fuzz_pairs CALLS [SEED]
//
// Meant for AddressSanitizer and UBSan, as fuzz.cc: arrays of exact size, outputs that start as
// garbage, NaN in tokens that must not be read, and work that is cut at random as threads would.

#include <cstdio>
#include <cstdlib>

#include "fused_problems.h"
#include "pair_scores.h"
#include "recurrence.h"

namespace disan {
namespace {

Array<float> Moderate(int64_t count, double size) {
  Array<float> array(count);
  for (int64_t k = 0; k < count; ++k) array[k] = size * Normal();
  return array;
}

struct PairProblem {
  const int64_t batch = Whole(0, 3), p = Whole(0, 9), q = Whole(0, 9), dim = Whole(1, 40);
  const double size = std::vector<double>{0.1, 1.0, 9.0, 300.0}[Whole(0, 3)];
  const Array<float> first = Moderate(batch * p * dim, size), vector = Moderate(dim, 1.0);
  const Array<float> second = Moderate(batch * q * dim, size), up = Moderate(batch * p * q, 1.0);
  const Array<float> scores{batch * p * q}, to_first{first.size}, to_second{second.size};
  const Array<float> to_vectors{batch * dim};

  PairProblem() {
    if (Chance(0.3)) {  // far from 0 and as far on the other side
      for (int64_t k = 0; k < first.size; ++k) first[k] += 50.0f;
      for (int64_t k = 0; k < second.size; ++k) second[k] -= 50.0f;
    }
    const AdditiveScores pass(batch, p, q, dim, first.data.get(), second.data.get(),
                              vector.data.get());
    InPieces(batch, [&](int64_t begin, int64_t end) {
      pass.Run(begin, end, scores.data.get());
      pass.Gradient(begin, end, up.data.get(), to_first.data.get(), to_second.data.get(),
                    to_vectors.data.get());
    });
  }

  bool Succeeds() const {
    Sums sums[] = {Sums(scores.size), Sums(first.size), Sums(second.size), Sums(batch * dim)};
    for (int64_t pair = 0; pair < scores.size; ++pair) {
      const int64_t row = pair / (p * q), i = row * p + pair / q % p, j = row * q + pair % q;
      for (int64_t k = 0; k < dim; ++k) {
        const double v = vector[k], g = up[pair];
        const double t = std::tanh(double(first[i * dim + k]) + double(second[j * dim + k]));
        const double slope = g * v * (1.0 - t * t);
        // A sum of two numbers that cancel has the rounding of the larger.
        const double lost = g * v * std::fabs(double(first[i * dim + k])) / 20.0;
        sums[0].Add(pair, v * t, v);
        sums[1].Add(i * dim + k, slope, g * v + lost);
        sums[2].Add(j * dim + k, slope, g * v + lost);
        sums[3].Add(row * dim + k, g * t, g);
      }
    }
    return sums[0].Match("score", scores) && sums[1].Match("first gradient", to_first) &&
           sums[2].Match("second gradient", to_second) &&
           sums[3].Match("vector gradient", to_vectors);
  }

  struct Sums {
    explicit Sums(int64_t size) : values(size), sizes(size) {}
    void Add(int64_t index, double term, double size) {
      values[index] += term;
      sizes[index] += std::fabs(size);
    }
    bool Match(const char* what, const Array<float>& found) const {
      bool good = true;
      for (int64_t k = 0; k < found.size; ++k) {
        good &= IsClose(what, k, found[k], values[k], sizes[k]);
      }
      return good;
    }
    std::vector<double> values, sizes;
  };
};

double Sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// The states of one unit after a token, and what z they came from.
struct LstmUnit {
  using Cell = LstmCell;
  double i, j, f, o, old_c;
  LstmUnit(const std::vector<double>& z, int64_t units, int64_t k, double c)
      : i(Sigmoid(z[k])), j(std::tanh(z[units + k])), f(Sigmoid(z[2 * units + k] + 1.0)),
        o(Sigmoid(z[3 * units + k])), old_c(c) {}
  double c() const { return f * old_c + i * j; }
  double h() const { return o * std::tanh(c()); }
  // Of h's gradient and of c's, which becomes that before the token, that of z.
  std::vector<double> Return(double h_gradient, double* c_gradient) const {
    const double t = std::tanh(c()), all = *c_gradient + h_gradient * o * (1.0 - t * t);
    *c_gradient = all * f;
    return {all * j * i * (1.0 - i), all * i * (1.0 - j * j), all * old_c * f * (1.0 - f),
            h_gradient * t * o * (1.0 - o)};
  }
};

struct RnnUnit {
  using Cell = RnnCell;
  double state;
  RnnUnit(const std::vector<double>& z, int64_t, int64_t k, double) : state(std::tanh(z[k])) {}
  double c() const { return 0.0; }
  double h() const { return state; }
  std::vector<double> Return(double h_gradient, double*) const {
    return {h_gradient * (1.0 - state * state)};
  }
};

template <typename Unit>
struct RecurrenceProblem {
  const int64_t batch = Chance(0.2) ? Whole(15, 35) : Whole(0, 4), length = Whole(0, 5);
  const int64_t units = Whole(1, 20), wide = units * Unit::Cell::kGates, tokens = batch * length;
  const bool backward = Chance(0.5);
  const double size = std::vector<double>{0.3, 2.0, 200.0}[Whole(0, 2)];
  const Array<bool> mask = Mask(tokens);
  const Array<float> product = Moderate(tokens * wide, size), up = Moderate(tokens * units, 1.0);
  const Array<float> kernel = Moderate(units * wide, 0.5 / std::sqrt(units));
  const Array<float> h{tokens * units}, gates{tokens * wide}, old_h{tokens * units};
  const Array<float> old_c{tokens * units}, to_product{tokens * wide};

  RecurrenceProblem() {
    Hide(mask, wide, product);
    Hide(mask, units, up);
    const Array<float> transposed(kernel.size);
    for (int64_t k = 0; k < kernel.size; ++k) {
      transposed[k % wide * units + k / wide] = kernel[k];
    }
    const Recurrence<typename Unit::Cell> layer = {batch, length, units, backward,
                                                   mask.data.get()};
    InPieces(layer.pieces(), [&](int64_t first, int64_t last) {
      layer.Run(first, last, product.data.get(), kernel.data.get(), h.data.get(),
                gates.data.get(), old_h.data.get(), old_c.data.get());
      layer.Gradient(first, last, up.data.get(), transposed.data.get(), gates.data.get(),
                     old_c.data.get(), to_product.data.get());
    });
  }

  bool Succeeds() const {
    bool good = true;
    for (int64_t row = 0; row < batch; ++row) good &= RowIsRight(row);
    return good;
  }

  bool RowIsRight(int64_t row) const {
    std::vector<int64_t> order;  // the real tokens as they are read
    bool good = true;
    for (int64_t step = 0; step < length; ++step) {
      const int64_t token = row * length + (backward ? length - 1 - step : step);
      if (mask[token]) order.push_back(token);
      for (int64_t k = 0; k < units && !mask[token]; ++k) {
        good &= IsZero("h", token, h[token * units + k]) &&
                IsZero("old h", token, old_h[token * units + k]);
      }
      for (int64_t k = 0; k < wide && !mask[token]; ++k) {
        good &= IsZero("product gradient", token, to_product[token * wide + k]);
      }
    }
    std::vector<double> state(units), cell(units);
    std::vector<std::vector<Unit>> seen;
    for (const int64_t token : order) {
      std::vector<double> z(wide);
      for (int64_t k = 0; k < wide; ++k) {
        z[k] = product[token * wide + k];
        for (int64_t n = 0; n < units; ++n) z[k] += state[n] * kernel[n * wide + k];
      }
      seen.emplace_back();
      for (int64_t k = 0; k < units; ++k) {
        good &= IsClose("old h", token, old_h[token * units + k], state[k], kSize);
        seen.back().emplace_back(z, units, k, cell[k]);
      }
      for (int64_t k = 0; k < units; ++k) {
        state[k] = seen.back()[k].h();
        cell[k] = seen.back()[k].c();
        good &= IsClose("h", token, h[token * units + k], state[k], kSize);
      }
    }
    return good && GradientIsRight(order, seen);
  }

  bool GradientIsRight(const std::vector<int64_t>& order,
                       const std::vector<std::vector<Unit>>& seen) const {
    bool good = true;
    std::vector<double> to_h(units), to_c(units);
    for (int64_t step = order.size() - 1; step >= 0; --step) {
      const int64_t token = order[step];
      std::vector<double> to_z(wide), before(units);
      for (int64_t k = 0; k < units; ++k) {
        const auto found = seen[step][k].Return(to_h[k] + up[token * units + k], &to_c[k]);
        for (size_t gate = 0; gate < found.size(); ++gate) to_z[gate * units + k] = found[gate];
      }
      for (int64_t k = 0; k < wide; ++k) {
        good &= IsClose("product gradient", token, to_product[token * wide + k], to_z[k], kSize);
        for (int64_t n = 0; n < units; ++n) before[n] += to_z[k] * kernel[n * wide + k];
      }
      to_h = before;
    }
    return good;
  }

  // Of numbers that went through five tokens: errors add up and may grow a little.
  static constexpr double kSize = 20.0;
};

template <typename Problem>
bool Succeeds() {
  return Problem().Succeeds();
}

}  // namespace
}  // namespace disan

int main(int count, char** arguments) {
  using namespace disan;
  const int calls = count > 1 ? std::atoi(arguments[1]) : 300;
  generator.seed(count > 2 ? std::atoi(arguments[2]) : 1);
  bool (*const problems[])() = {Succeeds<PairProblem>, Succeeds<RecurrenceProblem<LstmUnit>>,
                                Succeeds<RecurrenceProblem<RnnUnit>>};
  int failures = 0;
  for (int call = 0; call < calls; ++call) failures += !problems[call % 3]();
  std::printf("float: %d calls, %d failed, vectors of %d bytes\n", calls, failures, kVectorBytes);
  return failures ? 1 : 0;
}
