// What programs share that call kernels at random: random numbers, arrays, checks, the main loop.
//
//   fuzz_... CALLS [SEED]
//
// They are meant for AddressSanitizer and UBSan: arrays have exactly their size, outputs start as
// garbage, what must not be read holds NaN, and work is cut at random as threads would cut it.
// A line is printed for each element type; the exit status is 1 if anything differs.

#ifndef TESTS_OPS_NATIVE_FUZZ_H_
#define TESTS_OPS_NATIVE_FUZZ_H_

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "vectors.h"

namespace disan {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline std::mt19937_64 generator;

inline int64_t Whole(int64_t least, int64_t most) {
  return std::uniform_int_distribution<int64_t>(least, most)(generator);
}
inline double Normal() { return std::normal_distribution<double>()(generator); }
inline bool Chance(double probability) {
  return std::bernoulli_distribution(probability)(generator);
}
inline double Magnitude() {
  return std::pow(10.0, std::uniform_real_distribution<>(-3, 4)(generator));
}

inline double ToDouble(double x) { return x; }
inline double ToDouble(BFloat16 x) {
  const uint32_t bits = static_cast<uint32_t>(x.bits) << 16;
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

template <typename T>
T FromDouble(double x) {
  return static_cast<T>(x);
}
template <>
inline BFloat16 FromDouble<BFloat16>(double x) {  // truncates; infinities and NaN stay
  const float single = x;
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof(bits));
  return {static_cast<uint16_t>(bits >> 16)};
}

template <typename T>
struct Array {
  explicit Array(int64_t size) : size(size), data(new T[size]) {
    std::memset(static_cast<void*>(data.get()), 0xab, size * sizeof(T));
  }
  T& operator[](int64_t index) const { return data[index]; }
  int64_t size;
  std::unique_ptr<T[]> data;
};

template <typename T>
bool SameBits(const Array<T>& a, const Array<T>& b) {
  return !std::memcmp(a.data.get(), b.data.get(), a.size * sizeof(T));
}

// The largest error of a result, in units of the sum of its terms' sizes.
constexpr double kTolerance = 2e-6;
template <typename T>
constexpr double kRounding = 0.0;  // of the result itself, relative to it
template <>
constexpr double kRounding<BFloat16> = 1.0 / 256;
constexpr double kTiny = 1e-28;  // 1e8 times 2^-126, the smallest e^x there is

// Calls work(first, last) for random pieces of [0, size) as threads would, the last one first.
template <typename Work>
void InPieces(int64_t size, Work work) {
  std::vector<int64_t> cuts = {0, size};
  for (int64_t more = Whole(0, 3); more; --more) cuts.push_back(Whole(0, size));
  std::sort(cuts.begin(), cuts.end());
  for (size_t k = cuts.size() - 1; k > 0; --k) work(cuts[k - 1], cuts[k]);
}

template <typename T>
bool IsClose(const char* what, int64_t index, T found, double expected, double size) {
  const double actual = ToDouble(found);
  const double bound = kTolerance * size + kRounding<T> * std::fabs(expected) + kTiny;
  const bool close = std::isnan(expected) ? std::isnan(actual)
                                          : std::fabs(actual - expected) <= bound;
  if (!close) {
    std::printf("%s[%d] is %.9g, expected %.9g, size %.9g\n", what, static_cast<int>(index),
                actual, expected, size);
  }
  return close;
}

template <typename T>
bool IsZero(const char* what, int64_t index, T found) {
  if (ToDouble(found) == 0.0) return true;
  std::printf("%s[%d] is not 0\n", what, static_cast<int>(index));
  return false;
}

template <typename T>
Array<T> Numbers(int64_t count) {
  Array<T> array(count);
  const double size = Magnitude();
  for (int64_t k = 0; k < count; ++k) array[k] = FromDouble<T>(size * Normal());
  if (count && Chance(0.05)) array[Whole(0, count - 1)] = FromDouble<T>(kNan);
  return array;
}

// Finite numbers of one size.
inline Array<float> Moderate(int64_t count, double size) {
  Array<float> array(count);
  for (int64_t k = 0; k < count; ++k) array[k] = size * Normal();
  return array;
}

inline Array<bool> Mask(int64_t rows) {
  const double density = std::vector<double>{0.0, 0.3, 0.8, 1.0}[Whole(0, 3)];
  Array<bool> mask(rows);
  for (int64_t row = 0; row < rows; ++row) mask[row] = Chance(density);
  return mask;
}

// NaN wherever the mask is false.
template <typename T>
void Hide(const Array<bool>& mask, int64_t dim, const Array<T>& array) {
  for (int64_t k = 0; k < array.size; ++k) {
    if (!mask[k / dim]) array[k] = FromDouble<T>(kNan);
  }
}

inline int64_t RandomRows() { return Chance(0.05) ? Whole(60, 200) : Whole(0, 12); }

// Calls the checks in turn, and prints how many calls failed; returns that number.
inline int Fuzz(const char* type, int calls, const std::vector<bool (*)()>& checks) {
  int failures = 0;
  for (int call = 0; call < calls; ++call) failures += !checks[call % checks.size()]();
  std::printf("%s: %d calls, %d failed, vectors of %d bytes\n", type, calls, failures,
              kVectorBytes);
  return failures;
}

// Seeds the generator; returns the number of calls.
inline int ReadArguments(int count, char** arguments) {
  generator.seed(count > 2 ? std::atoi(arguments[2]) : 1);
  return count > 1 ? std::atoi(arguments[1]) : 300;
}

template <typename Problem>
bool Succeeds() {
  return Problem().Succeeds();
}

}  // namespace disan

#endif  // TESTS_OPS_NATIVE_FUZZ_H_
