#include "frontend/graph/fold_numbers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

#include "frontend/graph/trace.h"
#include "ir/infer/infer.h"
#include "ir/interpreter/fold.h"
#include "runtime/compile/kernel_compiler.h"
#include "runtime/device/backend.h"

namespace heddle::frontend {

namespace {

using ir::Op;
using ir::TypeRule;

constexpr std::size_t most = 3;

bool is_nan(DType dtype, const ir::ElementBits& bits) {
  return dtype == DType::f32
             ? std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(bits.low)))
             : std::isnan(std::bit_cast<double>(bits.low));
}

/// Whether inference refuses the op for its operands' dtype, and says so.
bool is_refused(Op op, DType dtype) {
  return ir::is_elementwise(op) && (ir::info(op).dtypes & ir::set_of(dtype)) == 0;
}

/// Computes an elementwise function as the current device's kernels do. nullopt for NaN, whose sign
/// may differ, and for powers, of which some exponents have kernels of their own.
std::optional<ir::ElementBits> compute(Op op, DType dtype, std::span<const ir::ElementBits> bits) {
  if ((dtype != DType::f32 && dtype != DType::f64) || !ir::is_elementwise(op) || op == Op::power)
    return std::nullopt;
  const ir::OpInfo& info = ir::info(op);
  if (info.rule != TypeRule::floating && info.rule != TypeRule::arithmetic) return std::nullopt;
  const runtime::Device device = runtime::current_device();
  if (!runtime::capabilities_of(device).host_memory) return std::nullopt;
  const auto loop = runtime::backend_of(device).compiler().elementwise_loop(
      op, dtype, runtime::target_of(device));
  if (loop == nullptr) return std::nullopt;
  std::array<const void*, most> from{};
  for (std::size_t i = 0; i < bits.size(); ++i) from[i] = bits[i].bytes();
  ir::ElementBits result;
  loop(result.bytes(), from.data(), 1);
  return is_nan(dtype, result) ? std::nullopt : std::optional(result);
}

}  // namespace

NodeRef fold_numbers(Op op, std::span<const NodeRef> operands, const ir::Attributes& attributes) {
  const bool known =
      !operands.empty() && operands.size() <= most &&
      std::ranges::all_of(operands, [](const NodeRef& operand) { return operand->is_number(); });
  if (!known || Trace::current() != nullptr) return {};
  std::array<ir::ElementBits, most> all;
  std::array<ir::Type, most> types;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    all[i] = operands[i]->bits;
    types[i] = {operands[i]->dtype, {}};
  }
  const DType dtype = operands[op == Op::select ? 1 : 0]->dtype;
  if (is_refused(op, dtype)) return {};
  const auto bits = std::span(all).first(operands.size());
  auto result = ir::fold(op, dtype, bits, attributes);
  if (!result) result = compute(op, dtype, bits);
  if (!result) return {};
  return record_number(ir::infer(op, std::span(types).first(operands.size()), attributes).dtype,
                       *result);
}

}  // namespace heddle::frontend
