#include "runtime/products.h"

#include <cstring>

#include "heddle/error.h"

#include "ir/element.h"
#include "runtime/blas.h"
#include "runtime/log.h"

namespace heddle::runtime {

namespace {

/// The product by itself, of a result of `dtype`.
Gemm sized(const passes::MatmulStep& step, DType dtype, const ir::SymbolBindings& bindings) {
  const auto value = [&](ir::Dim dim) { return dim.evaluate(bindings); };
  Gemm product;
  product.dtype = dtype;
  if (step.operand_dtype != dtype) product.narrow = step.operand_dtype;
  product.precision = step.precision;
  product.rows = value(step.rows);
  product.columns = value(step.columns);
  product.depth = value(step.depth);
  product.batch = value(step.batch);
  product.a_leading = value(step.a_leading);
  product.b_leading = value(step.b_leading);
  product.a_transposed = step.a_transposed;
  product.b_transposed = step.b_transposed;
  product.a_batch_stride = value(step.a_batch_stride);
  product.b_batch_stride = value(step.b_batch_stride);
  product.out_batch_stride = value(step.out_batch_stride);
  return product;
}

/// Launches the kernel that stands by, which reads the product at `product`.
void launch(const passes::StandBy& stand_by, const PreparedKernel& prepared, void* product,
            const Frame& frame, KernelLauncher& launcher, const Stream& stream) {
  using Kind = passes::Parameter::Kind;
  const std::vector<passes::Parameter>& parameters = stand_by.kernel.parameters;
  std::vector<ir::ElementBits> slots;
  std::size_t next_size = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const passes::Parameter& parameter = parameters[i];
    if (parameter.kind == Kind::size) {
      slots.emplace_back(static_cast<std::uint64_t>(prepared.sizes[next_size++]));
    } else if (parameter.kind == Kind::scalar) {
      slots.push_back(frame.scalar(parameter.scalar));
    } else {
      void* const address = i == stand_by.product ? product : frame.address(parameter.buffer);
      slots.emplace_back(reinterpret_cast<std::uint64_t>(address));
    }
  }
  std::vector<void*> pointers;
  for (ir::ElementBits& slot : slots) pointers.push_back(&slot);
  launcher.launch(stand_by.kernel, prepared.blocks, {slots, pointers.data()}, stream);
}

}  // namespace

double Products::value_of(const passes::Factor& factor, const Frame& frame) const {
  if (!factor.scalar) return factor.constant;
  const ir::ElementBits bits = frame.scalar(*factor.scalar);
  const DType dtype = program_.inputs[*factor.scalar].type.dtype;
  return ir::with_element(dtype, [&]<class T>(std::type_identity<T>) -> double {
    if constexpr (heddle_scalar::is_complex<T>) {
      throw InternalError("a complex scalar is no factor of a product");
    } else {
      T value;
      std::memcpy(&value, bits.bytes(), sizeof value);
      return factor.constant * heddle_scalar::cast<double>(value);
    }
  });
}

GemmEpilogue Products::epilogue_of(const passes::MatmulStep& step, const Frame& frame) const {
  GemmEpilogue epilogue;
  epilogue.alpha = value_of(step.alpha, frame);
  epilogue.beta = value_of(step.beta, frame);
  if (step.residual) epilogue.residual = frame.address(*step.residual);
  if (step.bias) epilogue.bias = frame.address(*step.bias);
  epilogue.activation = step.activation;
  return epilogue;
}

void Products::multiply(std::size_t index, const Prepared& prepared, const Frame& frame,
                        KernelLauncher& launcher, const Stream& stream,
                        const CaptureScope& capture) {
  const passes::MatmulStep& step = program_.steps[index].matmul;
  const Gemm product = sized(step, step.dtype, prepared.bindings);
  if (product.rows == 0 || product.columns == 0 || product.batch == 0) return;
  static const Label& label =
      *new Label(std::make_shared<const std::string>("workspace of a matrix product"));
  const BufferRef workspace = allocate(blas_workspace_bytes(stream.device()), stream, label);
  if (capture.active()) capture.keep({workspace});
  const void* const a = frame.address(step.a);
  const void* const b = frame.address(step.b);
  void* const out = frame.address(step.out);
  if (!step.stand_by) return gemm(product, a, b, out, workspace->pointer(), stream);
  const GemmEpilogue epilogue = epilogue_of(step, frame);
  // A factor of 0 hides what is NaN, and a sum of nothing is no product.
  const bool applies = epilogue.alpha != 0 && epilogue.beta != 0 && product.depth != 0;
  std::atomic<bool>& refused = refused_[index];
  if (applies && !refused.load(std::memory_order_relaxed)) {
    if (gemm_with_epilogue(product, epilogue, a, b, out, workspace->pointer(), stream)) return;
    if (!refused.exchange(true)) {
      log().info(
          "{}: cuBLASLt does not multiply {}x{}x{} with this epilogue, and the product and "
          "a kernel run instead. {}",
          program_.name, product.rows, product.depth, product.columns,
          epilogues_unavailable_reason());
    }
  }
  const passes::StandBy& stand_by = *step.stand_by;
  const BufferRef alone =
      allocate(static_cast<std::size_t>(stand_by.bytes.evaluate(prepared.bindings)), stream,
               prepared.arena_label);
  if (capture.active()) capture.keep({alone});
  gemm(sized(step, stand_by.dtype, prepared.bindings), a, b, alone->pointer(), workspace->pointer(),
       stream);
  launch(stand_by, prepared.kernels[index], alone->pointer(), frame, launcher, stream);
}

}  // namespace heddle::runtime
