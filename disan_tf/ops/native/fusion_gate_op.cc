// The fusion gate and its gradient as TensorFlow operations.

#include "fusion_gate.h"
#include "op_helpers.h"

namespace disan {
namespace {

REGISTER_OP("DisanFusionGate")
    .Attr("T: {float, bfloat16}")
    .Input("token: T")
    .Input("context: T")
    .Input("bias: T")
    .Input("h: T")
    .Input("s: T")
    .Input("mask: bool")
    .Output("u: T")
    .Output("gate: T")
    .SetShapeFn([](InferenceContext* context) {
      for (int k = 0; k < 2; ++k) context->set_output(k, context->input(0));
      return tensorflow::OkStatus();
    });

REGISTER_OP("DisanFusionGateGradient")
    .Attr("T: {float, bfloat16}")
    .Input("upstream: T")
    .Input("gate: T")
    .Input("h: T")
    .Input("s: T")
    .Input("mask: bool")
    .Output("inner: T")
    .Output("h_gradient: T")
    .Output("s_gradient: T")
    .Output("bias_gradient: T")
    .SetShapeFn([](InferenceContext* context) {
      for (int k = 0; k < 3; ++k) context->set_output(k, context->input(0));
      context->set_output(3, context->Vector(FirstInputDim(context, -1)));
      return tensorflow::OkStatus();
    });

template <typename T>
class FusionGateKernel : public OpKernel {
  using E = typename Element<T>::type;

 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& token = context->input(0);
    const Rows rows(token);
    TensorShape tokens = token.shape();
    OP_REQUIRES(context, tokens.dims() > 0,
                InvalidArgument("token is a scalar, expected [..., dim]"));
    tokens.RemoveLastDims(1);
    OP_REQUIRES_OK(context, CheckShape("context", context->input(1), token.shape()));
    OP_REQUIRES_OK(context, CheckShape("bias", context->input(2), TensorShape({rows.dim})));
    OP_REQUIRES_OK(context, CheckShape("h", context->input(3), token.shape()));
    OP_REQUIRES_OK(context, CheckShape("s", context->input(4), token.shape()));
    OP_REQUIRES_OK(context, CheckShape("mask", context->input(5), tokens));
    Tensor *u, *gate;
    OP_REQUIRES_OK(context, context->allocate_output(0, token.shape(), &u));
    OP_REQUIRES_OK(context, context->allocate_output(1, token.shape(), &gate));
    const FusionGate<E> pass = {rows.count, rows.dim, Data<T>(token),
                                Data<T>(context->input(1)), Data<T>(context->input(2)),
                                Data<T>(context->input(3)), Data<T>(context->input(4)),
                                context->input(5).flat<bool>().data()};
    E *to_u = Data<T>(u), *to_gate = Data<T>(gate);
    RunOnThreads(context, rows.count, ElementwiseCost(2 * rows.dim),
                 [=](int64_t first, int64_t last) { pass.Run(first, last, to_u, to_gate); });
  }
};

template <typename T>
class FusionGateGradientKernel : public OpKernel {
  using E = typename Element<T>::type;

 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& upstream = context->input(0);
    const Rows rows(upstream);
    TensorShape tokens = upstream.shape();
    OP_REQUIRES(context, tokens.dims() > 0,
                InvalidArgument("upstream is a scalar, expected [..., dim]"));
    tokens.RemoveLastDims(1);
    const char* names[] = {"gate", "h", "s"};
    for (int k = 0; k < 3; ++k) {
      OP_REQUIRES_OK(context, CheckShape(names[k], context->input(1 + k), upstream.shape()));
    }
    OP_REQUIRES_OK(context, CheckShape("mask", context->input(4), tokens));
    Tensor *outputs[3], *bias_gradient, partial;
    for (int k = 0; k < 3; ++k) {
      OP_REQUIRES_OK(context, context->allocate_output(k, upstream.shape(), &outputs[k]));
    }
    OP_REQUIRES_OK(context,
                   context->allocate_output(3, TensorShape({rows.dim}), &bias_gradient));
    const int64_t blocks = Blocks(rows.count);
    OP_REQUIRES_OK(context, context->allocate_temp(tensorflow::DT_FLOAT,
                                                   TensorShape({blocks, rows.dim}), &partial));
    const FusionGateGradient<E> pass = {rows.count, rows.dim, Data<T>(upstream),
                                        Data<T>(context->input(1)), Data<T>(context->input(2)),
                                        Data<T>(context->input(3)),
                                        context->input(4).flat<bool>().data()};
    E *inner = Data<T>(outputs[0]), *to_h = Data<T>(outputs[1]), *to_s = Data<T>(outputs[2]);
    float* sums = partial.flat<float>().data();
    RunOnThreads(context, blocks, ElementwiseCost(3 * kBlockRows * rows.dim),
                 [=](int64_t first, int64_t last) {
                   pass.Run(first, last, inner, to_h, to_s, sums);
                 });
    AddBlocks(sums, blocks, rows.dim, Data<T>(bias_gradient));
  }
};

REGISTER_FOR_FLOATS("DisanFusionGate", FusionGateKernel);
REGISTER_FOR_FLOATS("DisanFusionGateGradient", FusionGateGradientKernel);

}  // namespace
}  // namespace disan
