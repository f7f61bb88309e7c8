// Random calls of recurrent layers against naive readings of their formulas in double precision.

#include <algorithm>
#include <cmath>
#include <vector>

#include "fuzz.h"
#include "recurrence.h"

namespace disan {
namespace {

double Sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// One unit of an LSTM: its gates, and its states after a token.
struct LstmUnit {
  using Cell = LstmCell;
  double i, j, f, o, old_c;
  LstmUnit(const std::vector<double>& z, int64_t units, int64_t k, double c)
      : i(Sigmoid(z[k])), j(std::tanh(z[units + k])), f(Sigmoid(z[2 * units + k] + 1.0)),
        o(Sigmoid(z[3 * units + k])), old_c(c) {}
  double c() const { return f * old_c + i * j; }
  double h() const { return o * std::tanh(c()); }
  // From the gradients of h and c that of z; c's becomes that before the token.
  std::vector<double> Gradient(double h_gradient, double* c_gradient) const {
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
  std::vector<double> Gradient(double h_gradient, double*) const {
    return {h_gradient * (1.0 - state * state)};
  }
};

template <typename Unit>
struct RecurrenceProblem {
  const int64_t batch = Chance(0.2) ? Whole(15, 35) : Whole(0, 4), length = Whole(0, 5);
  const int64_t units = Whole(0, 20), wide = units * Unit::Cell::kGates, tokens = batch * length;
  const bool backward = Chance(0.5);
  const double size = std::vector<double>{0.3, 2.0, 200.0}[Whole(0, 2)];
  const Array<bool> mask = Mask(tokens);
  const std::vector<int64_t> places = Places(mask);
  const int64_t rows = 1 + *std::max_element(places.begin(), places.end());
  const Array<float> product = Moderate(rows * wide, size), up = Moderate(tokens * units, 1.0);
  const Array<float> bias = Moderate(wide, size);
  const Array<float> kernel = Moderate(units * wide, 0.5 / std::sqrt(units));
  const Array<float> h{tokens * units}, gates{rows * wide}, old_h{rows * units};
  const Array<float> old_c{rows * units}, to_product{rows * wide};

  // The rows of tokens: those of padded sentences, or without rows for padding. Ends with -1.
  static std::vector<int64_t> Places(const Array<bool>& mask) {
    const bool padded = Chance(0.5);
    std::vector<int64_t> places;
    int64_t row = 0;
    for (int64_t token = 0; token < mask.size; ++token) {
      places.push_back(mask[token] ? row : -1);
      row += padded || mask[token];
    }
    places.push_back(-1);
    return places;
  }

  RecurrenceProblem() {
    Hide(mask, units, up);
    const Array<float> transposed(kernel.size);
    for (int64_t k = 0; k < kernel.size; ++k) {
      transposed[k % wide * units + k / wide] = kernel[k];
    }
    const Recurrence<typename Unit::Cell> layer = {batch, length, units, backward, places};
    InPieces(layer.pieces(), [&](int64_t first, int64_t last) {
      layer.Run(first, last, product.data.get(), bias.data.get(), kernel.data.get(),
                h.data.get(), gates.data.get(), old_h.data.get(), old_c.data.get());
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
        good &= IsZero("h", token, h[token * units + k]);
      }
    }
    std::vector<double> state(units), cell(units);
    std::vector<std::vector<Unit>> seen;
    for (const int64_t token : order) {
      const int64_t place = places[token];
      std::vector<double> z(wide);
      for (int64_t k = 0; k < wide; ++k) {
        z[k] = double(product[place * wide + k]) + bias[k];
        for (int64_t n = 0; n < units; ++n) z[k] += state[n] * kernel[n * wide + k];
      }
      seen.emplace_back();
      for (int64_t k = 0; k < units; ++k) {
        good &= IsClose("old h", token, old_h[place * units + k], state[k], kSize);
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
        const auto gates = seen[step][k].Gradient(to_h[k] + up[token * units + k], &to_c[k]);
        for (size_t gate = 0; gate < gates.size(); ++gate) to_z[gate * units + k] = gates[gate];
      }
      for (int64_t k = 0; k < wide; ++k) {
        const float ours = to_product[places[token] * wide + k];
        good &= IsClose("product gradient", token, ours, to_z[k], kSize);
        for (int64_t n = 0; n < units; ++n) before[n] += to_z[k] * kernel[n * wide + k];
      }
      to_h = before;
    }
    return good;
  }

  // For numbers that passed five tokens, whose errors add up and may grow a little.
  static constexpr double kSize = 20.0;
};

}  // namespace
}  // namespace disan

int main(int count, char** arguments) {
  using namespace disan;
  const int failures = Fuzz("float", ReadArguments(count, arguments),
                            {Succeeds<RecurrenceProblem<LstmUnit>>,
                             Succeeds<RecurrenceProblem<RnnUnit>>});
  return failures ? 1 : 0;
}
