// Dropout masks as bits, and the product with them.
//
// A mask bit takes 16 bits of the Philox 4x32-10 generator (Salmon et al. 2011) that TensorFlow's
// stateless random operations use: entry e is kept when the e-th 16-bit word of the stream, in
// little-endian order, is at least the threshold. So the portable form draws the same masks.

#ifndef DISAN_TF_OPS_NATIVE_DROPOUT_H_
#define DISAN_TF_OPS_NATIVE_DROPOUT_H_

#include <cstdint>
#include <cstring>

#include "vectors.h"

namespace disan {

// Entries that one call of `KeepBits` decides, from 8 counters of 128 bits.
constexpr int kMaskEntries = 64;

// The start of a stream of random numbers.
struct Philox {
  uint64_t key;
  uint64_t counter[2];
};

namespace philox {
constexpr uint32_t kMultiply0 = 0xD2511F53, kMultiply1 = 0xCD9E8D57;
constexpr uint32_t kRaise0 = 0x9E3779B9, kRaise1 = 0xBB67AE85;
constexpr int kRounds = 10;

// counter = start + steps.
inline void Advance(const uint64_t start[2], uint64_t steps, uint64_t counter[2]) {
  counter[0] = start[0] + steps;
  counter[1] = start[1] + (counter[0] < steps);
}
}  // namespace philox

// The bits of 64 entries, from entry 64 * `group` on; bit k is that of the k-th.
inline uint64_t KeepBits(const Philox& stream, int64_t group, uint16_t threshold) {
#if defined(DISAN_TF_AVX512) && defined(__AVX512BW__)
  // Lanes 0, 2, 4, 6 hold counters 0 to 3, the others 4 to 7: unpacking puts them in order.
  const __m512i steps = _mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0);
  uint64_t counter[2];
  philox::Advance(stream.counter, group * 8, counter);
  const __m512i low_words = _mm512_add_epi64(_mm512_set1_epi64(counter[0]), steps);
  const __mmask8 carry = _mm512_cmplt_epu64_mask(low_words, steps);
  const __m512i high_words =
      _mm512_mask_add_epi64(_mm512_set1_epi64(counter[1]), carry,
                            _mm512_set1_epi64(counter[1]), _mm512_set1_epi64(1));
  __m512i c0 = low_words, c1 = _mm512_srli_epi64(low_words, 32);
  __m512i c2 = high_words, c3 = _mm512_srli_epi64(high_words, 32);
  const __m512i multiply0 = _mm512_set1_epi64(philox::kMultiply0);
  const __m512i multiply1 = _mm512_set1_epi64(philox::kMultiply1);
  uint32_t key0 = stream.key, key1 = stream.key >> 32;
  for (int round = 0; round < philox::kRounds; ++round) {
    // Only the low half of each lane matters; the high half holds leftovers.
    const __m512i product0 = _mm512_mul_epu32(multiply0, c0);
    const __m512i product1 = _mm512_mul_epu32(multiply1, c2);
    c0 = _mm512_xor_si512(_mm512_xor_si512(_mm512_srli_epi64(product1, 32), c1),
                          _mm512_set1_epi64(key0));
    c2 = _mm512_xor_si512(_mm512_xor_si512(_mm512_srli_epi64(product0, 32), c3),
                          _mm512_set1_epi64(key1));
    c1 = product1;
    c3 = product0;
    key0 += philox::kRaise0;
    key1 += philox::kRaise1;
  }
  const __mmask16 odd = 0xAAAA;  // the high halves
  const __m512i low = _mm512_mask_blend_epi32(odd, c0, _mm512_slli_epi64(c1, 32));
  const __m512i high = _mm512_mask_blend_epi32(odd, c2, _mm512_slli_epi64(c3, 32));
  const __m512i least = _mm512_set1_epi16(threshold);
  const uint64_t first = _mm512_cmpge_epu16_mask(_mm512_unpacklo_epi64(low, high), least);
  const uint64_t second = _mm512_cmpge_epu16_mask(_mm512_unpackhi_epi64(low, high), least);
  return first | second << 32;
#else
  uint64_t bits = 0;
  for (int k = 0; k < 8; ++k) {
    uint64_t counter[2];
    philox::Advance(stream.counter, group * 8 + k, counter);
    uint32_t c[4] = {uint32_t(counter[0]), uint32_t(counter[0] >> 32), uint32_t(counter[1]),
                     uint32_t(counter[1] >> 32)};
    uint32_t key0 = stream.key, key1 = stream.key >> 32;
    for (int round = 0; round < philox::kRounds; ++round) {
      const uint64_t product0 = uint64_t(philox::kMultiply0) * c[0];
      const uint64_t product1 = uint64_t(philox::kMultiply1) * c[2];
      c[0] = uint32_t(product1 >> 32) ^ c[1] ^ key0;
      c[2] = uint32_t(product0 >> 32) ^ c[3] ^ key1;
      c[1] = product1;
      c[3] = product0;
      key0 += philox::kRaise0;
      key1 += philox::kRaise1;
    }
    for (int half = 0; half < 8; ++half) {
      const uint16_t word = c[half / 2] >> (half % 2 * 16);
      bits |= uint64_t(word >= threshold) << (k * 8 + half);
    }
  }
  return bits;
#endif
}

// y = factor x where the bit is set, else 0, for entries [first, last); first is a multiple of 64.
template <typename T>
inline void ApplyBits(const T* x, const uint64_t* bits, float factor, int64_t first,
                      int64_t last, T* y) {
  using V = Vector<float>::V;
  using I = Vector<float>::I;
  constexpr int kLanes = Vector<float>::kLanes;
  I lane_bit;
  for (int lane = 0; lane < kLanes; ++lane) lane_bit[lane] = 1 << lane;
  for (int64_t entry = first; entry < last; entry += kLanes) {
    const int count = last - entry < kLanes ? last - entry : kLanes;
    const auto here = static_cast<int32_t>(bits[entry / kMaskEntries] >> (entry % kMaskEntries));
    const I kept = ((I{} + here) & lane_bit) != 0;
    const V scaled = Load<float>(x + entry, count) * factor;
    Store<float>((V)((I)scaled & kept), y + entry, count);
  }
}

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_DROPOUT_H_
