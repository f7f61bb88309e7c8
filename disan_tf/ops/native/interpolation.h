// The weight e^(c tanh((a + b) / c)) of a head a and a dependent b: a sum over R nodes of products
// of a function of a and one of b; ../interpolation.py has the formula and its error.
//
// With u = z(a) / Z in [-1, 1] the polynomials are
//
//   L_r(u) = (-1)^r sin(pi (r + 1/2) / R) / R  prod_(s != r) 2 (u - u_s)
//
// whose product is that of the nodes before r times that of the nodes after r: no division, and a
// head on a node needs no care. Of a dependent, tanh_of_sum.h's r = 1 / (1 + e^(2b/c) e^(2 x_r/c))
// gives the weight, as it does for exact pairs.

#ifndef DISAN_TF_OPS_NATIVE_INTERPOLATION_H_
#define DISAN_TF_OPS_NATIVE_INTERPOLATION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tanh_of_sum.h"
#include "vectors.h"

namespace disan {

constexpr int kMaxRank = 32, kLeastRank = 8, kRankStep = 4;
// Tokens that are worked on together, so that a node's sums stay in registers.
constexpr int kTogether = 4;

// The nodes u_r, doubled, and the factors of the polynomials.
template <typename Real>
struct Nodes {
  explicit Nodes(int rank) : rank(rank) {
    for (int r = 0; r < rank; ++r) {
      const double angle = M_PI * (r + 0.5) / rank;
      doubled[r] = 2.0 * std::cos(angle);
      factor[r] = (r % 2 ? -1.0 : 1.0) * std::sin(angle) / rank;
    }
  }
  int rank;
  Real doubled[kMaxRank], factor[kMaxRank];
};

// The interpolation in one column: each lane has a range of heads of its own.
template <typename Real>
class Interpolation {
 public:
  using V = typename Vector<Real>::V;
  using Together = V[kTogether];

  // Heads lie within middle +- width; |2x/c| is at most kSafe for them and for the dependents.
  void Set(const Nodes<Real>* nodes, V middle, V width, double scale) {
    nodes_ = nodes;
    middle_ = middle;
    c_ = scale;
    per_scale_ = 1.0 / scale * kLog2E;
    scale_ = scale * kLog2E;
    weight_slope_ = -2.0 * scale * kLog2E;
    V half = Map(width);
    // Where all heads are nearly equal, nodes a little farther apart do no harm.
    half = half < Real(1e-3) ? V{} + Real(1e-3) : half;
    doubled_per_half_ = Real(2) / half;
    V exponential = middle;
    Exponentiate<Real>(&exponential, 1, scale);
    for (int r = 0; r < nodes->rank; ++r) {
      const V z = half * (nodes->doubled[r] / 2);  // tanh((x_r - m) / 2c)
      const V root = (Real(1) + z) / (Real(1) - z);
      node_[r] = exponential * root * root;
      constant_[r] = (Real(1) - z) * scale_;
    }
  }

  int rank() const { return nodes_->rank; }

  // e^(c z) L_r of a few heads.
  inline void OfHeads(const V* head, Together* basis) const {
    V u[kTogether], product[kTogether];
    for (int t = 0; t < kTogether; ++t) {
      const V z = Map(head[t] - middle_);
      u[t] = z * doubled_per_half_;  // doubled, like the nodes
      u[t] = u[t] < Real(-2) ? V{} - Real(2) : u[t];  // zeros that stand for no head
      u[t] = u[t] > Real(2) ? V{} + Real(2) : u[t];
      product[t] = Vector<Real>::Exp2(z * scale_);
    }
    for (int r = 0; r < rank(); ++r) {
      for (int t = 0; t < kTogether; ++t) {
        basis[r][t] = product[t] * nodes_->factor[r];
        product[t] *= u[t] - nodes_->doubled[r];
      }
    }
    for (int t = 0; t < kTogether; ++t) product[t] = V{} + Real(1);
    for (int r = rank() - 1; r >= 0; --r) {
      for (int t = 0; t < kTogether; ++t) {
        basis[r][t] *= product[t];
        product[t] *= u[t] - nodes_->doubled[r];
      }
    }
  }

  // b -> e^(2b/c), for a few dependents.
  inline void ExponentiateAll(V* dependent) const {
    Exponentiate<Real>(dependent, kTogether, c_);
  }

  // K_r and K'_r / 4 of a dependent b, of which e^(2b/c) is given.
  inline void OfDependent(V exponential, int r, V* weight, V* slope) const {
    const V sigmoid = Vector<Real>::Reciprocal(exponential * node_[r] + Real(1));
    *weight = Vector<Real>::Exp2(sigmoid * weight_slope_ + constant_[r]);
    *slope = *weight * (sigmoid - sigmoid * sigmoid);
  }

 private:
  // tanh(x / 2c)
  inline V Map(V x) const {
    const V power = Vector<Real>::Exp2(x * per_scale_);
    return Real(1) - Real(2) * Vector<Real>::Reciprocal(power + Real(1));
  }

  const Nodes<Real>* nodes_ = nullptr;
  double c_;
  Real per_scale_, scale_, weight_slope_;  // log2(e) times 1/c, c and -2c
  V middle_, doubled_per_half_;
  V node_[kMaxRank];      // e^(2 x_r / c)
  V constant_[kMaxRank];  // of the exponent of K_r
};

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_INTERPOLATION_H_
