// How the kernels that work feature by feature read memory: in columns, and panels of columns.
//
// A column is one sentence and as many features as a vector has lanes. Its tokens are packed first,
// only those that take part, so that the others cost nothing. Several columns of a sentence, a
// panel, are packed together, so that memory is read in its own order.

#ifndef DISAN_TF_OPS_NATIVE_PANELS_H_
#define DISAN_TF_OPS_NATIVE_PANELS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "vectors.h"

namespace disan {

// What a panel may take of the second-level cache.
constexpr int64_t kPanelBytes = 256 * 1024;

// Columns are numbered sentence by sentence.
template <typename Real>
int64_t ColumnsOfSentence(int64_t dim) {
  return (dim + Vector<Real>::kLanes - 1) / Vector<Real>::kLanes;
}

template <typename Real>
int64_t Columns(int64_t batch, int64_t dim) {
  return batch * ColumnsOfSentence<Real>(dim);
}

// Columns of one sentence that are packed together, and the number of their features.
struct Panel {
  int64_t sentence, feature, columns, features;
};

// Memory for the packed matrices of one panel at a time, each [columns][length] aligned vectors.
template <typename Real>
class Scratch {
 public:
  using V = typename Vector<Real>::V;

  Scratch(int64_t matrices, int64_t columns, int64_t length)
      : columns_(columns), length_(std::max<int64_t>(length, 1)) {
    memory_.reset(new (std::align_val_t(kVectorBytes)) V[matrices * columns_ * length_]);
  }
  V* column(int64_t matrix, int64_t number) {
    return memory_.get() + (matrix * columns_ + number) * length_;
  }

  // Reads the tokens `positions` of a panel, which starts at `source` in a [length, dim] matrix.
  template <typename T>
  void Pack(const T* source, int64_t dim, const Panel& panel,
            const std::vector<int64_t>& positions, int64_t matrix) {
    const int64_t whole = panel.features / kLanes;
    const int rest = static_cast<int>(panel.features % kLanes);
    for (size_t k = 0; k < positions.size(); ++k) {
      const T* row = source + positions[k] * dim;
      V* to = column(matrix, 0) + k;
      for (int64_t number = 0; number < whole; ++number) {
        to[number * length_] = Load<Real>(row + number * kLanes, kLanes);
      }
      if (rest) to[whole * length_] = Load<Real>(row + whole * kLanes, rest);
    }
  }

  // The reverse; tokens that are not among the positions get 0.
  template <typename T>
  void Unpack(int64_t matrix, int64_t dim, const Panel& panel,
              const std::vector<int64_t>& positions, int64_t length, T* target) {
    const int64_t whole = panel.features / kLanes;
    const int rest = static_cast<int>(panel.features % kLanes);
    int64_t token = 0;
    for (size_t k = 0; k <= positions.size(); ++k) {
      const int64_t end = k < positions.size() ? positions[k] : length;
      for (; token < end; ++token) {
        std::memset(static_cast<void*>(target + token * dim), 0, panel.features * sizeof(T));
      }
      if (k == positions.size()) break;
      T* row = target + token * dim;
      const V* from = column(matrix, 0) + k;
      for (int64_t number = 0; number < whole; ++number) {
        Store<Real>(from[number * length_], row + number * kLanes, kLanes);
      }
      if (rest) Store<Real>(from[whole * length_], row + whole * kLanes, rest);
      ++token;
    }
  }

 private:
  static constexpr int kLanes = Vector<Real>::kLanes;

  struct Free {
    void operator()(V* memory) const {
      operator delete[](memory, std::align_val_t(kVectorBytes));
    }
  };
  int64_t columns_, length_;
  std::unique_ptr<V[], Free> memory_;
};

// Calls visit(Panel, Scratch&) for columns [first, last) of a [batch, length, dim] array, with room
// for so many matrices.
template <typename Real, typename Visit>
void ForEachPanel(int64_t length, int64_t dim, int64_t first, int64_t last, int64_t matrices,
                  Visit visit) {
  constexpr int kLanes = Vector<Real>::kLanes;
  const int64_t in_sentence = ColumnsOfSentence<Real>(dim);
  const int64_t bytes = matrices * std::max<int64_t>(length, 1) * kVectorBytes;
  const int64_t most = std::min(in_sentence, std::max<int64_t>(kPanelBytes / bytes, 1));
  Scratch<Real> scratch(matrices, most, length);
  while (first < last) {
    const int64_t sentence = first / in_sentence, feature = first % in_sentence * kLanes;
    const int64_t columns = std::min({most, last - first, (sentence + 1) * in_sentence - first});
    const int64_t features = std::min(columns * kLanes, dim - feature);
    visit(Panel{sentence, feature, columns, features}, scratch);
    first += columns;
  }
}

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_PANELS_H_
