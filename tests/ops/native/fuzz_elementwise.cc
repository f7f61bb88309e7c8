// Random calls of dropout, sums, bias and activation, gate and pool against naive readings of their
// formulas in double precision.

#include <algorithm>
#include <cmath>
#include <vector>

#include "dropout.h"
#include "elementwise_problems.h"

namespace disan {
namespace {

// Philox 4x32-10 as Salmon et al. write it, with a 128-bit counter.
uint16_t PhiloxWord(const Philox& stream, int64_t word) {
  unsigned __int128 counter = stream.counter[1];
  counter = (counter << 64) + stream.counter[0] + word / 8;
  uint32_t c[4], key[2] = {uint32_t(stream.key), uint32_t(stream.key >> 32)};
  for (int k = 0; k < 4; ++k) c[k] = uint32_t(counter >> (32 * k));
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t(0xD2511F53) * c[0], b = uint64_t(0xCD9E8D57) * c[2];
    const uint32_t next[] = {uint32_t(b >> 32) ^ c[1] ^ key[0], uint32_t(b),
                             uint32_t(a >> 32) ^ c[3] ^ key[1], uint32_t(a)};
    std::copy(next, next + 4, c);
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c[word % 8 / 2] >> (word % 2 * 16);
}

template <typename T>
bool DropoutSucceeds() {
  const int64_t entries = Whole(0, 400), groups = (entries + kMaskEntries - 1) / kMaskEntries;
  const uint16_t threshold = Whole(0, 65535);
  Philox stream = {generator(), {generator(), generator()}};
  if (Chance(0.5)) stream.counter[0] = -Whole(1, 60);  // the low half overflows
  if (Chance(0.5)) stream.counter[1] = -1;
  const Array<T> x = Numbers<T>(entries), y(entries);
  const Array<uint64_t> bits(groups);
  const float factor = std::fabs(Normal());
  InPieces(groups, [&](int64_t first, int64_t last) {
    for (int64_t group = first; group < last; ++group) {
      bits[group] = KeepBits(stream, group, threshold);
    }
    ApplyBits(x.data.get(), bits.data.get(), factor, first * kMaskEntries,
              std::min(last * kMaskEntries, entries), y.data.get());
  });
  for (int64_t k = 0; k < entries; ++k) {
    const bool kept = PhiloxWord(stream, k) >= threshold;
    const double expected = ToDouble(x[k]) * factor;
    const bool good = kept ? IsClose("kept", k, y[k], expected, std::fabs(expected))
                           : IsZero("dropped", k, y[k]);
    if (!good) return false;
  }
  return true;
}

template <typename T>
bool SumSucceeds() {
  const int64_t entries = Whole(0, 200);
  std::vector<Array<T>> terms;
  std::vector<const T*> from;
  for (int64_t k = Whole(1, 4); k; --k) {
    terms.push_back(Numbers<T>(entries));
    from.push_back(terms.back().data.get());
  }
  const Array<T> y(entries);
  InPieces(entries, [&](int64_t first, int64_t last) { Sum(from, first, last, y.data.get()); });
  bool good = true;
  for (int64_t k = 0; k < entries; ++k) {
    double sum = 0.0, size = 0.0;
    for (const Array<T>& term : terms) {
      sum += ToDouble(term[k]);
      size += std::fabs(ToDouble(term[k]));
    }
    good &= IsClose("sum", k, y[k], sum, size);
  }
  return good;
}

template <typename T>
int FuzzAll(const char* type, int calls) {
  return Fuzz(type, calls, {
      DropoutSucceeds<T>,
      SumSucceeds<T>,
      Succeeds<ActivationProblem<T, Activation::kLinear>>,
      Succeeds<ActivationProblem<T, Activation::kElu>>,
      Succeeds<ActivationProblem<T, Activation::kRelu>>,
      Succeeds<ActivationProblem<T, Activation::kLeakyRelu>>,
      Succeeds<GateProblem<T>>,
      Succeeds<PoolProblem<T>>,
  });
}

}  // namespace
}  // namespace disan

int main(int count, char** arguments) {
  const int calls = disan::ReadArguments(count, arguments);
  const int failures = disan::FuzzAll<float>("float", calls / 2) +
                       disan::FuzzAll<disan::BFloat16>("bfloat16", calls - calls / 2);
  return failures ? 1 : 0;
}
