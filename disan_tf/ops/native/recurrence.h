// Recurrent layers over whole sentences, without TensorFlow: the product with h, the gates and the
// states of a step in one pass, for rows of a batch that do not depend on each other.
//
// In TensorFlow's loop a step is about ten operations forward and forty backward, which at a
// hundred units cost more to start than to compute; and it adds up the kernel's gradient step by
// step, where here one product for all steps is left to the caller.

#ifndef DISAN_TF_OPS_NATIVE_RECURRENCE_H_
#define DISAN_TF_OPS_NATIVE_RECURRENCE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "vectors.h"

namespace disan {

// 1 / (1 + e^-x), to about 1e-7; NaN stays NaN.
inline Floats Logistic(Floats x) {
  Floats power = x * -float(kLog2E);
  power = power > 120.0f ? Floats{} + 120.0f : power;  // beyond, the result is 0 or 1
  power = power < -120.0f ? Floats{} - 120.0f : power;
  return Vector<float>::Reciprocal(Vector<float>::Exp2(power) + 1.0f);
}

inline Floats Tanh(Floats x) { return Logistic(x * 2.0f) * 2.0f - 1.0f; }

// kRows rows of out = a b, for one or two vectors of columns. Each sum runs through b's rows in
// order, so that it does not depend on how the rows are divided among threads.
template <int kRows, bool kTwo>
inline void ProductBlock(const float* a, const float* b, int64_t inner, int64_t columns, int count,
                         float* out) {
  Floats sums[kRows][2] = {};
  for (int64_t k = 0; k < inner; ++k) {
    const float* row = b + k * columns;
    const Floats left = Load<float>(row, kTwo ? kFloatLanes : count);
    const Floats right = kTwo ? Load<float>(row + kFloatLanes, count) : Floats{};
    for (int n = 0; n < kRows; ++n) {
      sums[n][0] += left * a[n * inner + k];
      if constexpr (kTwo) sums[n][1] += right * a[n * inner + k];
    }
  }
  for (int n = 0; n < kRows; ++n) {
    Store<float>(sums[n][0], out + n * columns, kTwo ? kFloatLanes : count);
    if constexpr (kTwo) Store<float>(sums[n][1], out + n * columns + kFloatLanes, count);
  }
}

template <int kRows>
inline void ProductRows(const float* a, const float* b, int64_t inner, int64_t columns,
                        float* out) {
  int64_t column = 0;
  for (; column + kFloatLanes < columns; column += 2 * kFloatLanes) {
    const int64_t rest = columns - column - kFloatLanes;
    const int count = static_cast<int>(std::min<int64_t>(rest, kFloatLanes));
    ProductBlock<kRows, true>(a, b + column, inner, columns, count, out + column);
  }
  if (column < columns) {
    ProductBlock<kRows, false>(a, b + column, inner, columns,
                               static_cast<int>(columns - column), out + column);
  }
}

// out [rows, columns] = a [rows, inner] b [inner, columns].
inline void Product(const float* a, const float* b, int64_t rows, int64_t inner, int64_t columns,
                    float* out) {
  int64_t row = 0;
  for (; row + 8 <= rows; row += 8) {
    ProductRows<8>(a + row * inner, b, inner, columns, out + row * columns);
  }
  for (; row < rows; ++row) {
    ProductRows<1>(a + row * inner, b, inner, columns, out + row * columns);
  }
}

// [i; j; f; o] = z, c <- sigmoid(f + 1) c + sigmoid(i) tanh(j), h = sigmoid(o) tanh(c).
struct LstmCell {
  static constexpr int kGates = 4;

  // A step of one row: z [4 units] becomes the gates, c and h the states after the token.
  static void Step(int64_t units, float* z, float* c, float* h) {
    ForEachVector(units, [&](int64_t at, int count) {
      const Floats i = Logistic(Load<float>(z + at, count));
      const Floats j = Tanh(Load<float>(z + units + at, count));
      const Floats f = Logistic(Load<float>(z + 2 * units + at, count) + 1.0f);
      const Floats o = Logistic(Load<float>(z + 3 * units + at, count));
      const Floats cell = f * Load<float>(c + at, count) + i * j;
      const Floats gates[] = {i, j, f, o};
      for (int k = 0; k < kGates; ++k) Store<float>(gates[k], z + k * units + at, count);
      Store<float>(cell, c + at, count);
      Store<float>(o * Tanh(cell), h + at, count);
    });
  }

  // Its gradient: from those of h and c that of z; c's becomes that before the token.
  static void StepGradient(int64_t units, const float* gates, const float* old_c,
                           const float* h_gradient, float* c_gradient, float* z_gradient) {
    ForEachVector(units, [&](int64_t at, int count) {
      const Floats i = Load<float>(gates + at, count);
      const Floats j = Load<float>(gates + units + at, count);
      const Floats f = Load<float>(gates + 2 * units + at, count);
      const Floats o = Load<float>(gates + 3 * units + at, count);
      const Floats old = Load<float>(old_c + at, count);
      const Floats output = Tanh(f * old + i * j);
      const Floats h = Load<float>(h_gradient + at, count);
      const Floats c = Load<float>(c_gradient + at, count) + h * o * (1.0f - output * output);
      const Floats to_z[] = {c * j * i * (1.0f - i), c * i * (1.0f - j * j),
                             c * old * f * (1.0f - f), h * output * o * (1.0f - o)};
      for (int k = 0; k < kGates; ++k) Store<float>(to_z[k], z_gradient + k * units + at, count);
      Store<float>(c * f, c_gradient + at, count);
    });
  }
};

// h = tanh(z); c is not used.
struct RnnCell {
  static constexpr int kGates = 1;

  static void Step(int64_t units, float* z, float*, float* h) {
    ForEachVector(units, [&](int64_t at, int count) {
      const Floats state = Tanh(Load<float>(z + at, count));
      Store<float>(state, z + at, count);
      Store<float>(state, h + at, count);
    });
  }

  static void StepGradient(int64_t units, const float* gates, const float*,
                           const float* h_gradient, float*, float* z_gradient) {
    ForEachVector(units, [&](int64_t at, int count) {
      const Floats h = Load<float>(gates + at, count);
      Store<float>(Load<float>(h_gradient + at, count) * (1.0f - h * h), z_gradient + at, count);
    });
  }
};

// A layer of `Cell` that reads in one direction. Where a token is padding the states stay as they
// are, and h is 0.
template <typename Cell>
struct Recurrence {
  static constexpr int64_t kRows = 16;  // in a piece, the unit of work for threads

  int64_t batch, length, units;
  bool backward;
  std::vector<int64_t> places;  // [batch, length], the row of each token's product; -1 = padding

  int64_t pieces() const { return (batch + kRows - 1) / kRows; }
  int64_t gates() const { return Cell::kGates * units; }

  // Pieces [first, last). From product [rows, gates], x W of each token, bias [gates] and kernel
  // [units, gates]: h [batch, length, units], and what the gradient needs of each real token: its
  // gates [rows, gates], and h and c before it [rows, units].
  template <typename T>
  void Run(int64_t first, int64_t last, const T* product, const float* bias, const float* kernel,
           T* h, float* saved_gates, float* old_h, float* old_c) const {
    std::vector<float> state(kRows * units), cell(kRows * units), z(kRows * gates());
    for (int64_t piece = first; piece < last; ++piece) {
      const int64_t start = piece * kRows, rows = std::min(kRows, batch - start);
      std::fill(state.begin(), state.end(), 0.0f);
      std::fill(cell.begin(), cell.end(), 0.0f);
      for (int64_t step = 0; step < length; ++step) {
        const int64_t token = backward ? length - 1 - step : step;
        if (Any(start, rows, token)) {
          Product(state.data(), kernel, rows, units, gates(), z.data());
        }
        for (int64_t row = 0; row < rows; ++row) {
          const int64_t at = (start + row) * length + token, place = places[at];
          if (place < 0) {
            std::fill_n(h + at * units, units, T{});
            continue;
          }
          float *my_state = state.data() + row * units, *my_cell = cell.data() + row * units;
          std::copy_n(my_state, units, old_h + place * units);
          std::copy_n(my_cell, units, old_c + place * units);
          float *my_z = z.data() + row * gates(), *my_gates = saved_gates + place * gates();
          ForEachVector(gates(), [&](int64_t k, int count) {
            const Floats of_x = Load<float>(product + place * gates() + k, count);
            const Floats sum = Load<float>(my_z + k, count) + (of_x + Load<float>(bias + k, count));
            Store<float>(sum, my_gates + k, count);
          });
          Cell::Step(units, my_gates, my_cell, my_state);
          ForEachVector(units, [&](int64_t k, int count) {
            Store<float>(Load<float>(my_state + k, count), h + at * units + k, count);
          });
        }
      }
    }
  }

  // Pieces [first, last) of product's gradient [rows, gates], for the rows of tokens. `transposed`
  // is the kernel as [gates, units].
  template <typename T>
  void Gradient(int64_t first, int64_t last, const T* upstream, const float* transposed,
                const float* saved_gates, const float* old_c, float* product_gradient) const {
    std::vector<float> state(kRows * units), cell(kRows * units), back(kRows * units),
        z(kRows * gates());
    for (int64_t piece = first; piece < last; ++piece) {
      const int64_t start = piece * kRows, rows = std::min(kRows, batch - start);
      std::fill(state.begin(), state.end(), 0.0f);
      std::fill(cell.begin(), cell.end(), 0.0f);
      std::fill(z.begin(), z.end(), 0.0f);
      for (int64_t step = 0; step < length; ++step) {
        const int64_t token = backward ? step : length - 1 - step;
        for (int64_t row = 0; row < rows; ++row) {
          const int64_t at = (start + row) * length + token, place = places[at];
          if (place < 0) continue;
          float *my_state = state.data() + row * units, *my_z = z.data() + row * gates();
          ForEachVector(units, [&](int64_t k, int count) {
            const Floats sum = Load<float>(my_state + k, count) +
                               Load<float>(upstream + at * units + k, count);
            Store<float>(sum, my_state + k, count);
          });
          Cell::StepGradient(units, saved_gates + place * gates(), old_c + place * units, my_state,
                             cell.data() + row * units, my_z);
          std::copy_n(my_z, gates(), product_gradient + place * gates());
        }
        if (!Any(start, rows, token)) continue;
        Product(z.data(), transposed, rows, gates(), units, back.data());
        for (int64_t row = 0; row < rows; ++row) {
          if (places[(start + row) * length + token] >= 0) {
            std::copy_n(back.data() + row * units, units, state.data() + row * units);
          }
        }
      }
    }
  }

 private:
  bool Any(int64_t start, int64_t rows, int64_t token) const {
    for (int64_t row = start; row < start + rows; ++row) {
      if (places[row * length + token] >= 0) return true;
    }
    return false;
  }
};

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_RECURRENCE_H_
