#include "passes/calls/lowering.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/calls/attention.h"
#include "ir/calls/collective.h"
#include "ir/calls/gram.h"
#include "ir/calls/inverse.h"
#include "passes/calls/attention.h"
#include "passes/calls/cholesky.h"
#include "passes/calls/collective.h"
#include "passes/calls/control.h"
#include "passes/calls/determinant.h"
#include "passes/calls/element_loops.h"
#include "passes/calls/fft.h"
#include "passes/calls/gram.h"
#include "passes/calls/lu.h"
#include "passes/calls/matmul.h"
#include "passes/calls/matrix_item.h"
#include "passes/calls/qr.h"
#include "passes/calls/sort.h"
#include "passes/calls/spectral.h"
#include "passes/rewrite/rewrite.h"

namespace heddle::passes {

namespace {

constexpr CallLowering table[] = {
    {.op = ir::calls::matmul,
     .lower = lower_matmul,
     .reads = matmul_reads,
     .describe = describe_product,
     .item = matmul_item,
     .flops = matmul_flops},
    {.op = ir::calls::attention,
     .reads = attention_reads,
     .kernel = attention_kernel,
     .only_lowered = true},
    {.op = ir::calls::gram_parts, .item = gram_item, .flops = gram_flops, .only_lowered = true},
    {.op = ir::calls::sort, .lower = lower_sort, .describe = describe_sort},
    {.op = ir::calls::argsort, .lower = lower_sort, .describe = describe_sort},
    {.op = ir::calls::cholesky,
     .lower = lower_cholesky,
     .item = cholesky_item,
     .flops = cholesky_flops},
    {.op = ir::calls::fft, .lower = lower_fft, .item = fft_item, .flops = fft_flops},
    {.op = ir::calls::rfft, .lower = lower_rfft, .item = rfft_item, .flops = fft_flops},
    {.op = ir::calls::irfft, .lower = lower_irfft, .item = irfft_item, .flops = fft_flops},
    {.op = ir::calls::lu, .lower = lower_lu, .item = lu_item, .flops = lu_flops},
    {.op = ir::calls::solve, .lower = lower_solve, .item = solve_item, .flops = solve_flops},
    {.op = ir::calls::inverse, .item = inverse_item, .flops = inverse_flops, .only_lowered = true},
    {.op = ir::calls::slogdet, .lower = lower_slogdet, .item = slogdet_item, .flops = lu_flops},
    {.op = ir::calls::geqrf, .item = geqrf_item, .flops = geqrf_flops},
    {.op = ir::calls::householder_product,
     .lower = lower_householder_product,
     .item = householder_item,
     .flops = householder_product_flops},
    {.op = ir::calls::solve_triangular, .flops = solve_triangular_flops},
    {.op = ir::calls::svd, .lower = lower_svd, .item = svd_item, .flops = svd_flops},
    {.op = ir::calls::svd_jacobi, .flops = svd_flops, .only_lowered = true},
    {.op = ir::calls::svdvals,
     .lower = lower_svdvals,
     .item = svdvals_item,
     .flops = svdvals_flops},
    {.op = ir::calls::eigh, .lower = lower_hermitian, .item = hermitian_item, .flops = eigh_flops},
    {.op = ir::calls::eigvalsh,
     .lower = lower_hermitian,
     .item = hermitian_item,
     .flops = eigvalsh_flops},
    {.op = ir::calls::eig, .lower = lower_eigen, .flops = eig_flops},
    {.op = ir::calls::eigvals, .lower = lower_eigen, .flops = eigvals_flops},
    {.op = ir::calls::scan, .lower = lower_scan, .describe = describe_scan},
    {.op = ir::calls::while_loop, .lower = lower_while, .describe = describe_while},
    {.op = ir::calls::switch_case, .describe = describe_switch},
    {.op = ir::calls::element_loop, .only_lowered = true},
    {.op = ir::calls::collective, .describe = describe_collective},
};

constexpr CallLowering no_row;

CallValue step_value(const ir::CallOp& op, const ir::AttributeValue& value) {
  return std::visit(
      [&]<class T>(const T& one) -> CallValue {
        if constexpr (std::is_same_v<T, std::int64_t>) {
          return Dim(one);
        } else if constexpr (std::is_same_v<T, double>) {
          return Factor{one, std::nullopt};
        } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, DType> ||
                             std::is_same_v<T, std::string>) {
          return one;
        } else {
          throw InternalError(fmt::format("{}: a step cannot hold a list attribute", op.name));
        }
      },
      value);
}

/// Sets the extents of an item: "rows", "columns", and of operands after the first "rows_1",
/// "columns_1" and so on. A vector is one row as the
/// first operand, and has no rows as another.
void set_extents(const CallBuilder& builder, std::size_t core_axes, CallValues& values) {
  const std::span<const ValueId> operands = builder.graph.operands(builder.call);
  const ir::Shape& first = builder.graph.shape(operands[0]);
  const std::size_t batch_axes = first.size() - core_axes;
  values.set("batch", ir::element_count({first.begin(),
                                         first.begin() + static_cast<std::ptrdiff_t>(batch_axes)}));
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const ir::Shape& shape = builder.graph.shape(operands[i]);
    const std::string suffix = i == 0 ? "" : fmt::format("_{}", i);
    values.set("columns" + suffix, shape.back());
    const bool matrix = shape.size() > batch_axes + 1;
    if (matrix || i == 0) values.set("rows" + suffix, matrix ? shape[shape.size() - 2] : Dim(1));
  }
}

/// The step of an op whose handler has the op's name.
DescribedCall library_call(CallBuilder& builder, const CallLowering& row) {
  const Graph& graph = builder.graph;
  const ir::CallData& data = *graph.attributes(builder.call).call;
  if (!data.regions.empty() || graph.operands(builder.call).empty())
    throw InternalError(fmt::format("{} needs a description of its step", data.op->name));
  const ir::Type first = graph.type(graph.operands(builder.call)[0]);
  CallStep step;
  step.handler = step.operation = data.op->name;
  step.what = to_string(first);
  step.label = fmt::format("{}_{}", data.op->name, name_of(first.dtype));
  std::ranges::replace(step.label, '.', '_');
  for (std::size_t i = 0; i < data.attributes.size(); ++i)
    step.values.set(data.op->attributes[i].name, step_value(*data.op, data.attributes[i]));
  if (data.op->core_axes > 0) set_extents(builder, data.op->core_axes, step.values);
  Dim moved;
  for (const ValueId array : arrays_read(graph, builder.call, builder.target)) {
    step.operands.push_back(builder.array(array));
    moved += ir::byte_count(graph.type(array));
  }
  for (std::size_t i = 0; i < graph.result_types(builder.call).size(); ++i) {
    step.results.push_back(builder.result(i));
    moved += ir::byte_count(graph.result_types(builder.call)[i]);
  }
  for (const ir::SharedMemory& shared : data.op->shared) {
    step.aliases.push_back(
        {static_cast<std::uint32_t>(shared.result), static_cast<std::uint32_t>(shared.operand)});
  }
  if (row.flops != nullptr) step.flops = row.flops(graph, builder.call);
  return {std::move(step), moved};
}

}  // namespace

const CallLowering& lowering_of(const ir::CallOp& op) {
  const auto found =
      std::ranges::find_if(table, [&](const CallLowering& row) { return &row.op() == &op; });
  return found == std::end(table) ? no_row : *found;
}

std::optional<ItemCall> item_call(const Graph& graph, ValueId value, const ir::Target& target) {
  if (graph.op(value) != ir::Op::call) return std::nullopt;
  const CallLowering& row = lowering_of(*graph.attributes(value).call->op);
  return row.item == nullptr ? std::nullopt : row.item(graph, value, target);
}

std::optional<KernelPlan> call_kernel(const Graph& graph, ValueId call, IndexSpace& space,
                                      const LowerGroup& lower) {
  const CallLowering& row = lowering_of(*graph.attributes(call).call->op);
  if (row.kernel == nullptr) return std::nullopt;
  return row.kernel(graph, call, space, lower);
}

Graph lower_calls(const Graph& graph, const ir::Target& target) {
  std::unordered_map<std::uint32_t, std::vector<ValueId>> lowered;  ///< by the old call's index
  return rewrite(graph, [&](Graph& result, ValueId id, const std::vector<ValueId>& operands) {
    if (graph.op(id) == ir::Op::result) {
      const auto found = lowered.find(index_of(graph.operands(id)[0]));
      if (found != lowered.end()) return found->second[graph.attributes(id).index];
    }
    if (graph.op(id) == ir::Op::call) {
      const OldCall call{graph, id, operands};
      const CallLowering& row = lowering_of(*call.data().op);
      if (row.lower != nullptr)
        return lowered.emplace(index_of(id), row.lower(result, call, target)).first->second.front();
    }
    return copy_node(result, graph, id, operands);
  });
}

std::vector<ValueId> arrays_read(const Graph& graph, ValueId call, const CallTarget& target) {
  const CallLowering& row = lowering_of(*graph.attributes(call).call->op);
  if (row.reads != nullptr) return row.reads(graph, call, target);
  std::vector<ValueId> arrays;
  for (const ValueId operand : graph.operands(call))
    arrays.push_back(strip_reshapes(graph, operand));
  return arrays;
}

DescribedCall describe_call(CallBuilder& builder) {
  const CallLowering& row = lowering_of(*builder.graph.attributes(builder.call).call->op);
  return row.describe != nullptr ? row.describe(builder) : library_call(builder, row);
}

ValueId strip_reshapes(const Graph& graph, ValueId operand) {
  while (graph.op(operand) == ir::Op::reshape) operand = graph.operands(operand)[0];
  return operand;
}

bool is_single(const ir::Shape& shape) {
  return std::ranges::all_of(shape, [](Dim extent) { return extent == Dim(1); });
}

}  // namespace heddle::passes
