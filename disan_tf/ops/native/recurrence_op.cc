// Recurrent layers and their gradient as TensorFlow operations.

#include <string>

#include "op_helpers.h"
#include "recurrence.h"

namespace disan {
namespace {

REGISTER_OP("DisanRecurrence")
    .Attr("cell: {'lstm', 'rnn'}")
    .Attr("backward: bool")
    .Input("product: float")
    .Input("mask: bool")
    .Input("kernel: float")
    .Output("h: float")
    .Output("gates: float")
    .Output("old_h: float")
    .Output("old_c: float")
    .SetShapeFn([](InferenceContext* context) {
      tensorflow::shape_inference::ShapeHandle product, kernel, states;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 3, &product));
      TF_RETURN_IF_ERROR(context->WithRank(context->input(2), 2, &kernel));
      TF_RETURN_IF_ERROR(context->ReplaceDim(product, 2, context->Dim(kernel, 0), &states));
      for (int k = 0; k < 4; ++k) context->set_output(k, k == 1 ? product : states);
      return tensorflow::OkStatus();
    });

REGISTER_OP("DisanRecurrenceGradient")
    .Attr("cell: {'lstm', 'rnn'}")
    .Attr("backward: bool")
    .Input("upstream: float")
    .Input("mask: bool")
    .Input("transposed: float")
    .Input("gates: float")
    .Input("old_c: float")
    .Output("product_gradient: float")
    .SetShapeFn([](InferenceContext* context) {
      context->set_output(0, context->input(3));
      return tensorflow::OkStatus();
    });

// Makes the layer from the shape of input number `input`, gates [batch, length, gates].
template <typename Cell>
Status MakeRecurrence(OpKernelContext* context, int input, bool backward, Recurrence<Cell>* made) {
  const Tensor &gates = context->input(input), &mask = context->input(1);
  const char* name = input == 0 ? "product" : "gates";
  if (gates.dims() != 3 || gates.dim_size(2) % Cell::kGates != 0) {
    return InvalidArgument(name, " has shape ", gates.shape().DebugString(),
                           ", expected [batch, length, ", Cell::kGates, " * units]");
  }
  *made = {gates.dim_size(0), gates.dim_size(1), gates.dim_size(2) / Cell::kGates, backward,
           mask.flat<bool>().data()};
  return CheckShape("mask", mask, TensorShape({made->batch, made->length}));
}

// The estimated nanoseconds of a piece.
template <typename Cell>
int64_t PieceCost(const Recurrence<Cell>& layer) {
  return layer.kRows * layer.length * (layer.units * layer.gates() / 20 + 10 * layer.gates());
}

// Reads the attributes; Kernel::Run<Cell> computes.
template <typename Kernel>
class CellKernel : public OpKernel {
 public:
  explicit CellKernel(OpKernelConstruction* construction) : OpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("cell", &cell_));
    OP_REQUIRES_OK(construction, construction->GetAttr("backward", &backward_));
  }

  void Compute(OpKernelContext* context) override {
    if (cell_ == "lstm") {
      Kernel::template Run<LstmCell>(context, backward_);
    } else {
      Kernel::template Run<RnnCell>(context, backward_);
    }
  }

 private:
  std::string cell_;
  bool backward_;
};

struct RecurrenceKernel {
  template <typename Cell>
  static void Run(OpKernelContext* context, bool backward) {
    Recurrence<Cell> layer;
    OP_REQUIRES_OK(context, MakeRecurrence(context, 0, backward, &layer));
    const Tensor &product = context->input(0), &kernel = context->input(2);
    OP_REQUIRES_OK(context,
                   CheckShape("kernel", kernel, TensorShape({layer.units, layer.gates()})));
    float* outputs[4];
    for (int k = 0; k < 4; ++k) {
      TensorShape shape = product.shape();
      if (k != 1) shape.set_dim(2, layer.units);
      Tensor* output;
      OP_REQUIRES_OK(context, context->allocate_output(k, shape, &output));
      outputs[k] = Data<float>(output);
    }
    RunOnThreads(context, layer.pieces(), PieceCost(layer), [&](int64_t first, int64_t last) {
      layer.Run(first, last, Data<float>(product), Data<float>(kernel), outputs[0], outputs[1],
                outputs[2], outputs[3]);
    });
  }
};

struct RecurrenceGradientKernel {
  template <typename Cell>
  static void Run(OpKernelContext* context, bool backward) {
    Recurrence<Cell> layer;
    OP_REQUIRES_OK(context, MakeRecurrence(context, 3, backward, &layer));
    const TensorShape states({layer.batch, layer.length, layer.units});
    const Tensor &upstream = context->input(0), &transposed = context->input(2),
                 &gates = context->input(3), &old_c = context->input(4);
    OP_REQUIRES_OK(context, CheckShape("upstream", upstream, states));
    OP_REQUIRES_OK(context, CheckShape("old_c", old_c, states));
    OP_REQUIRES_OK(context, CheckShape("transposed", transposed,
                                       TensorShape({layer.gates(), layer.units})));
    Tensor* gradient;
    OP_REQUIRES_OK(context, context->allocate_output(0, gates.shape(), &gradient));
    RunOnThreads(context, layer.pieces(), PieceCost(layer), [&](int64_t first, int64_t last) {
      layer.Gradient(first, last, Data<float>(upstream), Data<float>(transposed),
                     Data<float>(gates), Data<float>(old_c), Data<float>(gradient));
    });
  }
};

REGISTER_KERNEL_BUILDER(Name("DisanRecurrence").Device(tensorflow::DEVICE_CPU),
                        CellKernel<RecurrenceKernel>);
REGISTER_KERNEL_BUILDER(Name("DisanRecurrenceGradient").Device(tensorflow::DEVICE_CPU),
                        CellKernel<RecurrenceGradientKernel>);

}  // namespace
}  // namespace disan
