#include "passes/calls/gemm.h"

#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/error.h"

#include "ir/types/element.h"
#include "runtime/calls/handlers.h"
#include "runtime/libraries/blas.h"

namespace heddle::runtime {

namespace {

using passes::GemmCall;

Gemm sized(const GemmCall& call, const ir::SymbolBindings& bindings) {
  const auto value = [&](ir::Dim dim) { return dim.evaluate(bindings); };
  Gemm product;
  product.dtype = call.dtype;
  if (call.operand_dtype != call.dtype) product.narrow = call.operand_dtype;
  product.precision = call.precision;
  product.rows = value(call.rows);
  product.columns = value(call.columns);
  product.depth = value(call.depth);
  product.batch = value(call.batch);
  product.a_leading = value(call.a_leading);
  product.b_leading = value(call.b_leading);
  product.a_transposed = call.a_transposed;
  product.b_transposed = call.b_transposed;
  product.a_conjugated = call.a_conjugated;
  product.b_conjugated = call.b_conjugated;
  product.a_batch_stride = value(call.a_batch_stride);
  product.b_batch_stride = value(call.b_batch_stride);
  product.out_batch_stride = value(call.out_batch_stride);
  return product;
}

/// A scale factor with the dtype of its scalar.
struct PreparedFactor {
  passes::Factor factor;
  DType dtype = DType::f32;

  PreparedFactor(const passes::Factor& given, std::span<const passes::ProgramInput> inputs)
      : factor(given) {
    if (factor.scalar) dtype = inputs[*factor.scalar].type.dtype;
    if (is_complex(dtype)) throw InternalError("a complex scalar cannot scale a matrix product");
  }

  double value(const CallBuffers& frame) const {
    if (!factor.scalar) return factor.constant;
    const ir::ElementBits bits = frame.scalar(*factor.scalar);
    return ir::with_element(dtype, [&]<class T>(std::type_identity<T>) -> double {
      if constexpr (heddle_scalar::is_complex<T>) {
        return 0;
      } else {
        T value;
        std::memcpy(&value, bits.bytes(), sizeof value);
        return factor.constant * heddle_scalar::cast<double>(value);
      }
    });
  }
};

class PreparedGemm : public PreparedCall {
 public:
  PreparedGemm(const GemmCall& call, const Gemm& product, const ir::SymbolBindings& bindings,
               Device device)
      : product_(product),
        out_(call.out),
        a_(call.a),
        b_(call.b),
        a_offset_(bytes_before(call.a_start, product, bindings)),
        b_offset_(bytes_before(call.b_start, product, bindings)),
        workspace_bytes_(blas_workspace_bytes(device)) {}

  Outcome enqueue(const CallBuffers& frame) const override {
    const BufferRef memory = workspace(frame);
    gemm(product_, a(frame), b(frame), frame.address(out_), memory->pointer(), frame.stream());
    return Outcome::enqueued;
  }

  std::optional<std::size_t> graph_nodes() const override { return 2; }  // it may split its sums

  /// "f32[2,512,64] x f32[2,64,128]", and the operands added to the product.
  std::string operands(const std::vector<std::string>& types) const override {
    const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
      ir::Shape shape{ir::Dim(rows), ir::Dim(columns)};
      if (product_.batch != 1) shape.insert(shape.begin(), ir::Dim(product_.batch));
      return ir::to_string(ir::Type{product_.operand_dtype(), shape});
    };
    std::vector<std::string> shown = {matrix(product_.rows, product_.depth) + " x " +
                                      matrix(product_.depth, product_.columns)};
    shown.insert(shown.end(), types.begin() + 2, types.end());
    return fmt::format("{}", fmt::join(shown, ", "));
  }

 protected:
  BufferRef workspace(const CallBuffers& frame) const {
    static const Label& label =
        *new Label(std::make_shared<const std::string>("workspace of a matrix product"));
    return frame.allocate(workspace_bytes_, label);
  }

  const std::byte* a(const CallBuffers& frame) const {
    return static_cast<const std::byte*>(frame.address(a_)) + a_offset_;
  }
  const std::byte* b(const CallBuffers& frame) const {
    return static_cast<const std::byte*>(frame.address(b_)) + b_offset_;
  }

  Gemm product_;
  passes::BufferRef out_;

 private:
  static std::size_t bytes_before(ir::Dim start, const Gemm& product,
                                  const ir::SymbolBindings& bindings) {
    return static_cast<std::size_t>(start.evaluate(bindings)) * size_of(product.operand_dtype());
  }

  passes::BufferRef a_, b_;
  std::size_t a_offset_, b_offset_;
  std::size_t workspace_bytes_;
};

/// A product and its epilogue, as one call of the library.
class PreparedEpilogue final : public PreparedGemm {
 public:
  PreparedEpilogue(const GemmCall& call, const Gemm& product, const CallContext& context)
      : PreparedGemm(call, product, context.bindings, context.device),
        device_(context.device),
        alpha_(call.alpha, context.inputs),
        beta_(call.beta, context.inputs),
        residual_(call.residual),
        bias_(call.bias),
        activation_(call.activation) {}

  Outcome enqueue(const CallBuffers& frame) const override {
    const GemmEpilogue epilogue = epilogue_of(frame);
    // A factor of 0 would hide NaN, and a product of depth 0 is not supported.
    if (epilogue.alpha == 0 || epilogue.beta == 0 || product_.depth == 0) return Outcome::unsuited;
    const BufferRef memory = workspace(frame);
    const bool done = gemm_with_epilogue(product_, epilogue, a(frame), b(frame),
                                         frame.address(out_), memory->pointer(), frame.stream());
    return done ? Outcome::enqueued : Outcome::refused;
  }

  std::string refusal() const override {
    return fmt::format(
        "cuBLASLt does not multiply {}x{}x{} with this epilogue; the product and a separate kernel "
        "run instead. {}",
        product_.rows, product_.depth, product_.columns, epilogues_unavailable_reason(device_));
  }

 private:
  GemmEpilogue epilogue_of(const CallBuffers& frame) const {
    GemmEpilogue epilogue;
    epilogue.alpha = alpha_.value(frame);
    epilogue.beta = beta_.value(frame);
    if (residual_) epilogue.residual = frame.address(*residual_);
    if (bias_) epilogue.bias = frame.address(*bias_);
    epilogue.activation = activation_;
    return epilogue;
  }

  Device device_;
  PreparedFactor alpha_, beta_;
  std::optional<passes::BufferRef> residual_, bias_;
  passes::Activation activation_;
};

class GemmHandler final : public CallHandler {
 public:
  CallWork prepare(const passes::CallStep& step, const CallContext& context) const override {
    const GemmCall call = passes::gemm_of(step);
    const Gemm product = sized(call, context.bindings);
    if (product.rows == 0 || product.columns == 0 || product.batch == 0) return CallWork();
    // Only products with an epilogue have a fallback, because the library may refuse them.
    if (step.fallback) return std::make_unique<const PreparedEpilogue>(call, product, context);
    return std::make_unique<const PreparedGemm>(call, product, context.bindings, context.device);
  }
};

}  // namespace

const CallHandler& gemm_call_handler() {
  static const GemmHandler handler;
  return handler;
}

}  // namespace heddle::runtime
