// Sums over the rows of an array, such as a bias's gradient: first in blocks of a fixed number of
// rows, then over the blocks in order, so that they do not depend on the number of threads.

#ifndef DISAN_TF_OPS_NATIVE_ROW_SUMS_H_
#define DISAN_TF_OPS_NATIVE_ROW_SUMS_H_

#include <cstdint>

#include "vectors.h"

namespace disan {

constexpr int64_t kBlockRows = 64;

inline int64_t Blocks(int64_t rows) { return (rows + kBlockRows - 1) / kBlockRows; }

// total [dim] = the sum of `blocks` partial sums [blocks, dim].
template <typename T>
void AddBlocks(const float* partial, int64_t blocks, int64_t dim, T* total) {
  ForEachVector(dim, [&](int64_t offset, int count) {
    Floats sum = {};
    for (int64_t block = 0; block < blocks; ++block) {
      sum += Load<float>(partial + block * dim + offset, count);
    }
    Store<float>(sum, total + offset, count);
  });
}

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_ROW_SUMS_H_
