// The attention kernels alone, without TensorFlow, on one thread, by the share of selected tokens.
//
//   cd tests/measurements
//   g++ -std=c++17 -O3 -march=native -I ../../disan_tf/ops/native attention_selection.cc
//   ./a.out
//
// Batch 64, 300 features, forward and backward; the rate is the share of heads and of dependents, at
// random places. A line has the least time of 30, and its ratio to the time with all selected; "in
// cache" repeats one sentence, so that memory costs nothing.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

#include "attention_gradient.h"

using namespace disan;

namespace {

constexpr int64_t kBatch = 64, kDim = 300;
constexpr int kRepetitions = 30;

// Milliseconds of kBatch sentences, `batch` of them at a time.
double Time(int64_t batch, int64_t length, double rate) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<std::vector<float>> arrays(9, std::vector<float>(batch * length * kDim));
  for (auto& array : arrays) {
    std::generate(array.begin(), array.end(), [&] { return normal(generator); });
  }
  const std::unique_ptr<bool[]> masks[] = {std::make_unique<bool[]>(batch * length),
                                           std::make_unique<bool[]>(batch * length)};
  for (const auto& mask : masks) {
    for (int64_t row = 0; row < batch; ++row) {
      bool* first = mask.get() + row * length;
      std::fill(first, first + std::llround(rate * length), true);
      std::shuffle(first, first + length, generator);
    }
  }
  const AttentionInputs<float> in = {batch, length, kDim, Direction::kForward, 5.0,
                            arrays[0].data(), arrays[1].data(), arrays[2].data(),
                            masks[0].get(), masks[1].get()};
  const AttentionForward<float> forward(in, arrays[3].data(), nullptr, arrays[4].data());
  const AttentionGradient<float> gradient(in, arrays[5].data(), arrays[3].data(),
                                          arrays[4].data(), arrays[6].data(), arrays[7].data(),
                                          arrays[8].data());
  double least = 1e9;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const auto start = std::chrono::steady_clock::now();
    for (int64_t done = 0; done < kBatch; done += batch) {
      forward.Run(0, in.columns());
      gradient.Run(0, in.columns());
    }
    const auto end = std::chrono::steady_clock::now();
    least = std::min(least, std::chrono::duration<double, std::milli>(end - start).count());
  }
  return least;
}

}  // namespace

int main() {
  for (const int64_t length : {14, 40, 80}) {
    for (const int64_t batch : {kBatch, int64_t{1}}) {
      const double whole = Time(batch, length, 1.0);
      for (const double rate : {1.0, 0.5, 0.25, 0.1}) {
        const double taken = Time(batch, length, rate);
        std::printf("length %d %s rate %.2f: %.2f ms, %.3f\n", static_cast<int>(length),
                    batch == 1 ? "in cache" : "        ", rate, taken, taken / whole);
      }
    }
  }
}
