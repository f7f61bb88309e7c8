// Random calls of the additive scores against a naive reading of their formula in double precision.

#include <cmath>
#include <vector>

#include "co_attention_scores.h"
#include "fuzz.h"

namespace disan {
namespace {

struct ScoresProblem {
  const int64_t batch = Whole(0, 3), p = Whole(0, 9), q = Whole(0, 9), dim = Whole(0, 40);
  const double size = std::vector<double>{0.1, 1.0, 9.0, 300.0}[Whole(0, 3)];
  const Array<float> first = Moderate(batch * p * dim, size), vector = Moderate(dim, 1.0);
  const Array<float> second = Moderate(batch * q * dim, size), up = Moderate(batch * p * q, 1.0);
  const Array<float> scores{batch * p * q}, to_first{first.size}, to_second{second.size};
  const Array<float> to_vectors{batch * dim};

  ScoresProblem() {
    if (Chance(0.3)) {  // far from 0, on opposite sides
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

}  // namespace
}  // namespace disan

int main(int count, char** arguments) {
  using namespace disan;
  return Fuzz("float", ReadArguments(count, arguments), {Succeeds<ScoresProblem>}) ? 1 : 0;
}
