// Vectors as wide as the CPU's registers: loading, storing, reciprocal, power of two, square root.
//
// The GCC vector extension makes the width explicit and works on every architecture; some functions
// have a form of their own for AVX-512.

#ifndef DISAN_TF_OPS_NATIVE_VECTORS_H_
#define DISAN_TF_OPS_NATIVE_VECTORS_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && \
    defined(__AVX512VL__)
#include <immintrin.h>
#define DISAN_TF_AVX512
#endif

namespace disan {

constexpr double kLog2E = 1.4426950408889634;

#if defined(DISAN_TF_AVX512)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

// The arithmetic is done in Real: float, or double for checking gradients.
template <typename Real>
struct Vector;

template <>
struct Vector<float> {
  static constexpr int kLanes = kVectorBytes / sizeof(float);
  typedef float V __attribute__((vector_size(kVectorBytes)));
  typedef int32_t I __attribute__((vector_size(kVectorBytes)));

  // 1 / x to the last bit or the one before, for |x| in [1e-37, 1e37]; NaN stays NaN.
  static inline V Reciprocal(V x) {
#if defined(DISAN_TF_AVX512)
    const V guess = (V)_mm512_rcp14_ps((__m512)x);  // 14 bits; a Newton step doubles them
    const V error = (V)_mm512_fnmadd_ps((__m512)x, (__m512)guess, _mm512_set1_ps(1.0f));
    return guess + guess * error;
#else
    return 1.0f / x;
#endif
  }

  // What rounding lost of `product`, the float nearest to x * factor. Written as
  // x * factor - product it would be 0, because the compiler sees the same product twice.
  static inline V RoundingError(V x, float factor, V product) {
#if defined(DISAN_TF_AVX512)
    return (V)_mm512_fmsub_ps((__m512)x, _mm512_set1_ps(factor), (__m512)product);
#else
    typedef double Doubles __attribute__((vector_size(2 * kVectorBytes)));
    const Doubles exact = __builtin_convertvector(x, Doubles) * static_cast<double>(factor);
    return __builtin_convertvector(exact - __builtin_convertvector(product, Doubles), V);
#endif
  }

  static inline V SquareRoot(V x) {
#if defined(DISAN_TF_AVX512)
    return (V)_mm512_sqrt_ps((__m512)x);
#else
    for (int lane = 0; lane < kLanes; ++lane) x[lane] = std::sqrt(x[lane]);
    return x;
#endif
  }

  // 2^(y + rest) for y in [-126, 126] and a tiny rest; relative error 1.5e-7; NaN stays NaN.
  static inline V Exp2(V y, V rest) {
#if defined(DISAN_TF_AVX512)
    const V fraction = (V)_mm512_reduce_ps((__m512)y, _MM_FROUND_TO_NEG_INF) + rest;
    return (V)_mm512_scalef_ps((__m512)Polynomial(fraction), (__m512)y);
#else
    const V whole = ((y - 0.5f) + kRounding) - kRounding;
    const I exponent = __builtin_convertvector(whole, I) + 127;
    return Polynomial(y - whole + rest) * (V)(exponent << 23);
#endif
  }

  static inline V Exp2(V y) {
#if defined(DISAN_TF_AVX512)
    const V fraction = (V)_mm512_reduce_ps((__m512)y, _MM_FROUND_TO_NEG_INF);
    return (V)_mm512_scalef_ps((__m512)Polynomial(fraction), (__m512)y);
#else
    return Exp2(y, V{});
#endif
  }

 private:
  // Adding it to a small number leaves the nearest whole number in the last bits.
  static constexpr float kRounding = 12582912.0f;  // 1.5 * 2^23

  // 2^g for g in [0, 1], the polynomial of degree 5 with the least relative error, 7.5e-8.
  static inline V Polynomial(V g) {
    V sum = g * 0x1.ec3209a9999e0p-10f + 0x1.26900cd9c7eb1p-7f;
    sum = sum * g + 0x1.c954464970000p-5f;
    sum = sum * g + 0x1.ebd5a8d9c6122p-3f;
    sum = sum * g + 0x1.62e4f5a908828p-1f;
    return sum * g + 0x1.fffffd7c4cf39p-1f;
  }
};

template <>
struct Vector<double> {
  static constexpr int kLanes = kVectorBytes / sizeof(double);
  typedef double V __attribute__((vector_size(kVectorBytes)));

  static inline V Reciprocal(V x) { return 1.0 / x; }
  static inline V RoundingError(V, double, V) { return V{}; }
  static inline V Exp2(V y, V rest) { return Exp2(y + rest); }
  static inline V Exp2(V y) {
    for (int lane = 0; lane < kLanes; ++lane) y[lane] = std::exp2(y[lane]);
    return y;
  }
};

// bfloat16 as its 16 bits, so that the kernels do not need TensorFlow.
struct BFloat16 {
  uint16_t bits;
};

// The type that an element type is computed in.
template <typename T>
struct Arithmetic {
  using Real = T;
};
template <>
struct Arithmetic<BFloat16> {
  using Real = float;
};

// Copies `count` elements between memory and a vector that has room for more. Calling memcpy for a
// few bytes would cost more than all the rest.
template <typename Element, typename V>
inline void ReadPart(const Element* source, int count, V* vector) {
#if defined(DISAN_TF_AVX512)
  if constexpr (sizeof(Element) == 4) {
    *vector = (V)_mm512_maskz_loadu_ps((1u << count) - 1, source);
    return;
  }
  if constexpr (sizeof(Element) == 2) {
    *vector = (V)_mm256_maskz_loadu_epi16((1u << count) - 1, source);
    return;
  }
#endif
  std::memcpy(vector, source, count * sizeof(Element));
}

template <typename Element, typename V>
inline void WritePart(V vector, int count, Element* target) {
#if defined(DISAN_TF_AVX512)
  if constexpr (sizeof(Element) == 4) {
    _mm512_mask_storeu_ps(target, (1u << count) - 1, (__m512)vector);
    return;
  }
  if constexpr (sizeof(Element) == 2) {
    _mm256_mask_storeu_epi16(target, (1u << count) - 1, (__m256i)vector);
    return;
  }
#endif
  std::memcpy(target, &vector, count * sizeof(Element));
}

// Reads the first `count` of a vector's lanes; the others are 0.
template <typename Real>
inline typename Vector<Real>::V Load(const Real* source, int count) {
  typename Vector<Real>::V result = {};
  if (count == Vector<Real>::kLanes) {
    std::memcpy(&result, source, sizeof(result));
  } else {
    ReadPart(source, count, &result);
  }
  return result;
}

template <typename Real>
inline void Store(typename Vector<Real>::V vector, Real* target, int count) {
  if (count == Vector<Real>::kLanes) {
    std::memcpy(target, &vector, sizeof(vector));
  } else {
    WritePart(vector, count, target);
  }
}

typedef uint16_t Halves __attribute__((vector_size(kVectorBytes / 2)));
typedef uint32_t Words __attribute__((vector_size(kVectorBytes)));

template <typename Real>
inline Vector<float>::V Load(const BFloat16* source, int count) {
  Halves halves = {};
  if (count == Vector<float>::kLanes) {
    std::memcpy(&halves, source, sizeof(halves));
  } else {
    ReadPart(source, count, &halves);
  }
  return (Vector<float>::V)(__builtin_convertvector(halves, Words) << 16);
}

// Rounds to the nearest bfloat16, ties to even; every NaN becomes the same NaN.
template <typename Real>
inline void Store(Vector<float>::V vector, BFloat16* target, int count) {
  const Words bits = (Words)vector;
  const Words rounded = (bits + (0x7fff + ((bits >> 16) & 1))) >> 16;
  const Words number = (Words)(vector == vector);  // all bits set where it is not NaN
  const Halves halves =
      __builtin_convertvector((rounded & number) | (0x7fc0 & ~number), Halves);
  if (count == Vector<float>::kLanes) {
    std::memcpy(target, &halves, sizeof(halves));
  } else {
    WritePart(halves, count, target);
  }
}

using Floats = Vector<float>::V;
constexpr int kFloatLanes = Vector<float>::kLanes;

// Calls visit(offset, count) for each vector of a row.
template <typename Visit>
inline void ForEachVector(int64_t dim, Visit visit) {
  int64_t offset = 0;
  for (; offset + kFloatLanes <= dim; offset += kFloatLanes) visit(offset, kFloatLanes);
  if (offset < dim) visit(offset, static_cast<int>(dim - offset));
}

// e^x for x <= 0; NaN stays NaN.
inline Floats ExpNegative(Floats x) {
  const Floats power = x * float(kLog2E);
  return Vector<float>::Exp2(power < -126.0f ? Floats{} - 126.0f : power);
}

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_VECTORS_H_
