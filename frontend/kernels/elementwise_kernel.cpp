#include <algorithm>

#include <fmt/format.h>

#include "heddle/kernels.h"

#include "frontend/array/access.h"
#include "frontend/graph/record.h"
#include "frontend/kernels/declaration.h"
#include "ir/infer/infer.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::KernelDeclaration;
using frontend::KernelTypes;
using frontend::NodeRef;

namespace {

/// The function's body. Each part keeps its own lines.
std::string whole(std::string_view operation, const KernelText& around) {
  std::string text = around.loop_prep.empty() ? "" : around.loop_prep + ";\n";
  text += operation;
  if (!around.after_loop.empty()) text += ";\n" + around.after_loop;
  return text;
}

/// The shape over which the kernel runs: that of the outputs that are given, or else `common`, to
/// which the inputs that are not raw broadcast, or else `size` elements.
ir::Shape shape_of_call(const KernelDeclaration& kernel, const std::optional<ir::Shape>& common,
                        const KernelCall& call, const SourceLocation& where) {
  const auto fail = [&](const std::string& what) {
    throw ValueError(at(fmt::format("{}: {}", kernel.name, what), where));
  };
  if (call.size && *call.size < 0) fail(fmt::format("size {} is negative", *call.size));
  const bool has_shape = !call.initial.empty() && !kernel.writes;
  const bool known = common || has_shape;
  if (known && call.size)
    fail("`size` is only for kernels all of whose arrays are raw; leave it out");
  if (!known && !call.size) {
    fail("no array that is not raw says how many elements there are; give `size`");
  }
  if (!has_shape) return common ? *common : ir::Shape{ir::Dim(*call.size)};
  const ir::Shape shape = Access::node(call.initial[0], where)->shape;
  const auto broadcasts = [&] {
    return !common ||
           frontend::located(where, [&] { return ir::broadcast_shapes(*common, shape); }) == shape;
  };
  for (std::size_t k = 0; k < call.initial.size(); ++k) {
    const NodeRef& node = Access::node(call.initial[k], where);
    if (node->shape == shape && broadcasts()) continue;
    throw ShapeError(
        at(fmt::format("{}: the output '{}' is {}, which does not fit {}", kernel.name,
                       kernel.out[k].name, frontend::describe(*node),
                       ir::to_string(common && node->shape == shape ? *common : shape)),
           where));
  }
  return shape;
}

}  // namespace

ElementwiseKernel::ElementwiseKernel(std::string_view in_params, std::string_view out_params,
                                     std::string_view operation, std::string_view name,
                                     const KernelText& around)
    : declaration_(std::make_shared<KernelDeclaration>(
          in_params, out_params, whole(operation, around), name, around.preamble)) {}

std::vector<Array> ElementwiseKernel::outputs(std::span<const Operand> inputs,
                                              const KernelCall& call,
                                              const SourceLocation& where) const {
  const KernelDeclaration& kernel = *declaration_;
  if (!call.initial.empty() && call.initial.size() != kernel.out.size()) {
    throw ValueError(at(fmt::format("{}: has {} outputs, not {}", kernel.name, kernel.out.size(),
                                    call.initial.size()),
                        where));
  }
  KernelTypes types(kernel.name, where);
  for (std::size_t k = 0; k < call.initial.size(); ++k)
    types.bind(kernel.out[k], Access::node(call.initial[k], where)->dtype);
  std::vector<NodeRef> nodes = kernel.nodes(inputs, types, where);
  const std::optional<ir::Shape> common = kernel.shape(inputs, nodes, where);
  const ir::Shape shape = shape_of_call(kernel, common, call, where);
  const auto& [i, n, indexer] = kernel.words();
  const bool declares_n =
      std::ranges::find(kernel.in, "n", &frontend::KernelParameter::name) != kernel.in.end();
  // An operand with the kernel's shape is needed if no input that is not raw has it.
  const bool has_numbers = indexer || i || common.value_or(ir::Shape()) != shape;
  const bool has_count = indexer || (n && !declares_n), has_initial = !call.initial.empty();
  if (has_numbers) nodes.push_back(frontend::element_numbers(shape, where));
  if (has_count) nodes.push_back(frontend::element_count(shape, where));
  for (const Array& one : call.initial) nodes.push_back(Access::node(one, where));
  const std::string key = types.key() + (has_numbers ? "i" : "") + (has_initial ? "o" : "");
  const auto calls = kernel.kept(key, [&] {
    std::vector<ir::UserFunction::Parameter> parameters = kernel.inputs();
    if (has_numbers) parameters.push_back({"_i"});
    if (has_count) parameters.push_back({"_n"});
    return frontend::user_calls({.name = kernel.name,
                                 .operation = kernel.operation,
                                 .preamble = kernel.preamble,
                                 .inputs = parameters,
                                 .outputs = kernel.outputs(types),
                                 .types = types.letters(),
                                 .has_initial = has_initial,
                                 .writes = kernel.writes});
  });
  const std::optional<ir::Shape> known = kernel.writes ? std::nullopt : std::optional(shape);
  std::vector<Array> arrays;
  for (const NodeRef& result : frontend::record_user_calls(*calls, nodes, known, where))
    arrays.push_back(Access::make(result));
  return arrays;
}

Array ElementwiseKernel::operator()(std::initializer_list<Operand> inputs,
                                    const KernelCall& call) const {
  const SourceLocation where = inputs.size() == 0 ? SourceLocation() : inputs.begin()->where();
  if (nout() != 1) {
    throw ValueError(at(fmt::format("{}: has {} outputs; call outputs()", name(), nout()), where));
  }
  return outputs(std::span(inputs.begin(), inputs.size()), call, where).front();
}

const std::string& ElementwiseKernel::name() const { return declaration_->name; }
int ElementwiseKernel::nin() const { return static_cast<int>(declaration_->in.size()); }
int ElementwiseKernel::nout() const { return static_cast<int>(declaration_->out.size()); }

}  // namespace heddle
