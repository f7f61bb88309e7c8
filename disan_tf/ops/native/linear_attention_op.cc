// Directional attention in linear time and its gradient as TensorFlow operations.

#include "attention_kernel.h"
#include "linear_attention.h"
#include "linear_attention_gradient.h"
#include "op_helpers.h"

namespace disan {
namespace {

// Nanoseconds of a token in one column.
constexpr int64_t kTokenCost = 200;

// The last two attributes are Ranks.
ATTENTION_FORWARD_OP("DisanLinearAttention")
    .Attr("widest: list(float)")
    .Attr("pairs_per_node: int >= 0")
    .Output("slope: Real")
    .SetShapeFn([](InferenceContext* context) {
      for (int k = 0; k < 4; ++k) {
        context->set_output(k, k == 1 ? context->UnknownShapeOfRank(3) : context->input(2));
      }
      return tensorflow::OkStatus();
    });

ATTENTION_GRADIENT_OP("DisanLinearAttentionGradient")
    .Attr("widest: list(float)")
    .Attr("pairs_per_node: int >= 0")
    .Input("slope: Real");

template <typename T>
class LinearAttentionKernelBase : public AttentionKernelBase<T> {
 public:
  explicit LinearAttentionKernelBase(OpKernelConstruction* construction)
      : AttentionKernelBase<T>(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("widest", &ranks_.widest));
    OP_REQUIRES_OK(construction,
                   construction->GetAttr("pairs_per_node", &ranks_.pairs_per_node));
    const size_t most = (kMaxRank - kLeastRank) / kRankStep + 1;
    OP_REQUIRES(construction, ranks_.widest.size() <= most,
                InvalidArgument("widest has ", ranks_.widest.size(), " numbers, expected ", most,
                                " or fewer"));
  }

 protected:
  Ranks ranks_;
};

template <typename T>
class LinearAttentionKernel : public LinearAttentionKernelBase<T> {
  using Base = LinearAttentionKernelBase<T>;
  using typename Base::E;
  using typename Base::Real;

 public:
  using Base::Base;

  void Compute(OpKernelContext* context) override {
    AttentionInputs<E> in;
    OP_REQUIRES_OK(context, Base::Read(context, &in));
    Tensor* results[4];
    OP_REQUIRES_OK(context, Base::MakeResults(context, 4, results));
    if (context->input(0).NumElements() == 0) return;
    const LinearForward<E> pass(in, this->ranks_, Data<T>(results[0]),
                                Base::kRounds ? Data<Real>(results[1]) : nullptr,
                                Data<Real>(results[2]), Data<Real>(results[3]));
    Base::RunSharded(context, in, pass, in.length * kTokenCost);
  }
};

template <typename T>
class LinearAttentionGradientKernel : public LinearAttentionKernelBase<T> {
  using Base = LinearAttentionKernelBase<T>;
  using typename Base::E;
  using typename Base::Real;

 public:
  using Base::Base;

  void Compute(OpKernelContext* context) override {
    AttentionInputs<E> in;
    OP_REQUIRES_OK(context, Base::Read(context, &in));
    E* to[3];
    OP_REQUIRES_OK(context, Base::MakeGradients(
                                context, {"upstream", "exact", "denominator", "slope"}, to));
    if (context->input(0).NumElements() == 0) return;
    const LinearGradient<E> pass(in, this->ranks_, Data<T>(context->input(5)),
                                 Data<Real>(context->input(6)), Data<Real>(context->input(7)),
                                 Data<Real>(context->input(8)), to[0], to[1], to[2]);
    Base::RunSharded(context, in, pass, in.length * kTokenCost);
  }
};

REGISTER_ATTENTION("DisanLinearAttention", LinearAttentionKernel);
REGISTER_ATTENTION("DisanLinearAttentionGradient", LinearAttentionGradientKernel);

}  // namespace
}  // namespace disan
