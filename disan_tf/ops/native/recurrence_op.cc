// Recurrent layers and their gradient as TensorFlow operations.

#include <algorithm>
#include <string>

#include "op_helpers.h"
#include "recurrence.h"

namespace disan {
namespace {

REGISTER_OP("DisanRecurrence")
    .Attr("T: {float, bfloat16}")
    .Attr("cell: {'lstm', 'rnn'}")
    .Attr("backward: bool")
    .Input("product: T")
    .Input("bias: float")
    .Input("mask: bool")
    .Input("kernel: float")
    .Output("h: T")
    .Output("gates: float")
    .Output("old_h: float")
    .Output("old_c: float")
    .SetShapeFn([](InferenceContext* context) {
      tensorflow::shape_inference::ShapeHandle product, mask, kernel, h, states;
      TF_RETURN_IF_ERROR(context->WithRankAtLeast(context->input(0), 2, &product));
      TF_RETURN_IF_ERROR(context->WithRank(context->input(2), 2, &mask));
      TF_RETURN_IF_ERROR(context->WithRank(context->input(3), 2, &kernel));
      const auto units = context->Dim(kernel, 0);
      TF_RETURN_IF_ERROR(context->Concatenate(mask, context->Vector(units), &h));
      context->set_output(0, h);
      context->set_output(1, product);
      TF_RETURN_IF_ERROR(context->ReplaceDim(product, -1, units, &states));
      for (int k = 2; k < 4; ++k) context->set_output(k, states);
      return tensorflow::OkStatus();
    });

REGISTER_OP("DisanRecurrenceGradient")
    .Attr("T: {float, bfloat16}")
    .Attr("cell: {'lstm', 'rnn'}")
    .Attr("backward: bool")
    .Input("upstream: T")
    .Input("mask: bool")
    .Input("transposed: float")
    .Input("gates: float")
    .Input("old_c: float")
    .Output("product_gradient: float")
    .SetShapeFn([](InferenceContext* context) {
      context->set_output(0, context->input(3));
      return tensorflow::OkStatus();
    });

// A layer, and the rows of products that belong to no token.
template <typename Cell>
struct Placed {
  Recurrence<Cell> layer;
  std::vector<int64_t> unused;

  // Fills the unused rows of [rows, dim] with 0.
  void Clear(int64_t dim, float* rows) const {
    for (int64_t row : unused) std::fill_n(rows + row * dim, dim, 0.0f);
  }
};

// Makes the layer for products of this shape: [batch, length, gates], or [rows, gates], whose rows
// are the real tokens, one sentence after the other, and then surplus.
template <typename Cell>
Status Place(const char* name, const Tensor& product, const Tensor& mask, bool backward,
             Placed<Cell>* made) {
  const int rank = product.dims();
  if (mask.dims() != 2) {
    return InvalidArgument("mask has shape ", mask.shape().DebugString(),
                           ", expected [batch, length]");
  }
  const int64_t gates = rank ? product.dim_size(rank - 1) : 0;
  if ((rank != 2 && rank != 3) || gates == 0 || gates % Cell::kGates != 0) {
    return InvalidArgument(name, " has shape ", product.shape().DebugString(),
                           ", expected [batch, length, ", Cell::kGates, " * units] or [rows, ",
                           Cell::kGates, " * units] with units > 0");
  }
  const int64_t batch = mask.dim_size(0), length = mask.dim_size(1);
  if (rank == 3) {
    const TensorShape sentences({product.dim_size(0), product.dim_size(1)});
    TF_RETURN_IF_ERROR(CheckShape("mask", mask, sentences));
  }
  made->layer = {batch, length, gates / Cell::kGates, backward};
  auto& places = made->layer.places;
  places.assign(batch * length, -1);
  const bool* real = mask.flat<bool>().data();
  int64_t tokens = 0;
  for (int64_t at = 0; at < batch * length; ++at) {
    if (real[at]) {
      places[at] = rank == 3 ? at : tokens++;
    } else if (rank == 3) {
      made->unused.push_back(at);
    }
  }
  if (rank == 3) return tensorflow::OkStatus();
  if (tokens > product.dim_size(0)) {
    return InvalidArgument(name, " has shape ", product.shape().DebugString(), ", but mask has ",
                           tokens, " tokens");
  }
  for (; tokens < product.dim_size(0); ++tokens) made->unused.push_back(tokens);
  return tensorflow::OkStatus();
}

// The estimated nanoseconds of a piece.
template <typename Cell>
int64_t PieceCost(const Recurrence<Cell>& layer) {
  return layer.kRows * layer.length * (layer.units * layer.gates() / 20 + 10 * layer.gates());
}

// Reads the attributes; a subclass has Run<Cell>(context, backward).
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

template <typename T>
struct RecurrenceKernel : CellKernel<RecurrenceKernel<T>> {
  using CellKernel<RecurrenceKernel<T>>::CellKernel;

  template <typename Cell>
  static void Run(OpKernelContext* context, bool backward) {
    Placed<Cell> placed;
    const Tensor &product = context->input(0), &bias = context->input(1),
                 &mask = context->input(2), &kernel = context->input(3);
    OP_REQUIRES_OK(context, Place("product", product, mask, backward, &placed));
    const auto& layer = placed.layer;
    OP_REQUIRES_OK(context, CheckShape("bias", bias, TensorShape({layer.gates()})));
    OP_REQUIRES_OK(context,
                   CheckShape("kernel", kernel, TensorShape({layer.units, layer.gates()})));
    Tensor* h;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, TensorShape({layer.batch, layer.length, layer.units}), &h));
    float* saved[3];
    for (int k = 0; k < 3; ++k) {
      TensorShape shape = product.shape();
      if (k > 0) shape.set_dim(product.dims() - 1, layer.units);
      Tensor* output;
      OP_REQUIRES_OK(context, context->allocate_output(1 + k, shape, &output));
      saved[k] = Data<float>(output);
    }
    placed.Clear(layer.units, saved[1]);
    RunOnThreads(context, layer.pieces(), PieceCost(layer), [&](int64_t first, int64_t last) {
      layer.Run(first, last, Data<T>(product), Data<float>(bias), Data<float>(kernel), Data<T>(h),
                saved[0], saved[1], saved[2]);
    });
  }
};

template <typename T>
struct RecurrenceGradientKernel : CellKernel<RecurrenceGradientKernel<T>> {
  using CellKernel<RecurrenceGradientKernel<T>>::CellKernel;

  template <typename Cell>
  static void Run(OpKernelContext* context, bool backward) {
    Placed<Cell> placed;
    const Tensor &upstream = context->input(0), &mask = context->input(1),
                 &transposed = context->input(2), &gates = context->input(3),
                 &old_c = context->input(4);
    OP_REQUIRES_OK(context, Place("gates", gates, mask, backward, &placed));
    const auto& layer = placed.layer;
    TensorShape states = gates.shape();
    states.set_dim(gates.dims() - 1, layer.units);
    OP_REQUIRES_OK(context, CheckShape("upstream", upstream,
                                       TensorShape({layer.batch, layer.length, layer.units})));
    OP_REQUIRES_OK(context, CheckShape("old_c", old_c, states));
    OP_REQUIRES_OK(context, CheckShape("transposed", transposed,
                                       TensorShape({layer.gates(), layer.units})));
    Tensor* gradient;
    OP_REQUIRES_OK(context, context->allocate_output(0, gates.shape(), &gradient));
    placed.Clear(layer.gates(), Data<float>(gradient));
    RunOnThreads(context, layer.pieces(), PieceCost(layer), [&](int64_t first, int64_t last) {
      layer.Gradient(first, last, Data<T>(upstream), Data<float>(transposed), Data<float>(gates),
                     Data<float>(old_c), Data<float>(gradient));
    });
  }
};

REGISTER_FOR_FLOATS("DisanRecurrence", RecurrenceKernel);
REGISTER_FOR_FLOATS("DisanRecurrenceGradient", RecurrenceGradientKernel);

}  // namespace
}  // namespace disan
