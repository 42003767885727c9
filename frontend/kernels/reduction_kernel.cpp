#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "heddle/kernels.h"
#include "heddle/reductions.h"

#include "frontend/array/access.h"
#include "frontend/array/views.h"
#include "frontend/graph/axes.h"
#include "frontend/graph/record.h"
#include "frontend/kernels/declaration.h"
#include "ir/base/words.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::KernelDeclaration;
using frontend::KernelParameter;
using frontend::KernelTypes;
using frontend::NodeRef;

namespace {

constexpr std::int64_t radix = 8;  ///< elements that one kernel of a tree combines

/// The text without spaces and parentheses. Of an expression in a and b that has one operator, that
/// is the expression.
std::string bare(std::string_view text) {
  std::string made(text);
  std::erase_if(
      made, [](char c) { return std::string_view(" \n\t;()").find(c) != std::string_view::npos; });
  return made;
}

/// What is one of Heddle's reductions, by the forms in which programs write it.
enum class Known : std::uint8_t { sum, product, all, any, min, max };
struct KnownForm {
  std::string_view text;
  Known reduction;
};
constexpr std::array known_forms = {
    KnownForm{"a+b", Known::sum},     KnownForm{"b+a", Known::sum},
    KnownForm{"a*b", Known::product}, KnownForm{"b*a", Known::product},
    KnownForm{"a&&b", Known::all},    KnownForm{"b&&a", Known::all},
    KnownForm{"a||b", Known::any},    KnownForm{"b||a", Known::any},
    KnownForm{"mina,b", Known::min},  KnownForm{"minb,a", Known::min},
    KnownForm{"fmina,b", Known::min}, KnownForm{"fminb,a", Known::min},
    KnownForm{"maxa,b", Known::max},  KnownForm{"maxb,a", Known::max},
    KnownForm{"fmaxa,b", Known::max}, KnownForm{"fmaxb,a", Known::max},
    KnownForm{"a<b?a:b", Known::min}, KnownForm{"a<=b?a:b", Known::min},
    KnownForm{"b<a?b:a", Known::min}, KnownForm{"b<=a?b:a", Known::min},
    KnownForm{"a>b?b:a", Known::min}, KnownForm{"a>=b?b:a", Known::min},
    KnownForm{"b>a?a:b", Known::min}, KnownForm{"b>=a?a:b", Known::min},
    KnownForm{"a<b?b:a", Known::max}, KnownForm{"a<=b?b:a", Known::max},
    KnownForm{"b<a?a:b", Known::max}, KnownForm{"b<=a?a:b", Known::max},
    KnownForm{"a>b?a:b", Known::max}, KnownForm{"a>=b?a:b", Known::max},
    KnownForm{"b>a?b:a", Known::max}, KnownForm{"b>=a?b:a", Known::max},
};

std::optional<Known> known_reduction(const std::string& text) {
  const auto* const form = std::ranges::find(known_forms, text, &KnownForm::text);
  return form == known_forms.end() ? std::nullopt : std::optional(form->reduction);
}

/// Of booleans; + and * are those of C++.
std::optional<Known> known_of_booleans(const std::string& text) {
  if (text == "a|b" || text == "a+b") return Known::any;
  if (text == "a&b" || text == "a*b") return Known::all;
  return known_reduction(text);
}

/// One call of a reduction kernel.
class ReductionCall {
 public:
  ReductionCall(const KernelDeclaration& kernel, KernelTypes types, KernelParameter reduced,
                const SourceLocation& where)
      : kernel_(kernel), types_(std::move(types)), reduced_(std::move(reduced)), where_(where) {
    dtype_ = types_.of(reduced_);
  }

  NodeRef map(std::vector<NodeRef> nodes, const ir::Shape& shape,
              const std::vector<std::int64_t>& axes, const std::string& expression) const {
    const bool is_input = nodes.size() == 1 && bare(expression) == kernel_.in[0].name;
    if (is_input && nodes[0]->dtype == dtype_ && nodes[0]->shape == shape) return nodes[0];
    const bool counts = ir::mentions(expression, "_J");
    if (counts) nodes.push_back(numbers_along(shape, axes));
    return record("map", nodes, shape, [&] {
      Function map{fmt::format("_value = {}", expression), kernel_.inputs()};
      if (counts) map.inputs.push_back({"_J"});
      return map;
    });
  }

  /// Reduces the axes of extents other than 0, which become extent 1.
  NodeRef reduce(const NodeRef& mapped, const std::vector<std::int64_t>& axes,
                 const std::string& expression) const {
    if (const std::optional<Array> known = heddles_own(mapped, axes, expression))
      return Access::node(*known, where_);
    Layout layout = matrix_of(mapped, axes);
    while (frontend::extent_of(layout.matrix, layout.axis) != ir::Dim(1))
      layout.matrix = combine(layout.matrix, layout.axis, expression);
    return frontend::reshape_to(layout.matrix, layout.result, where_);
  }

  NodeRef identity(const std::string& expression, const ir::Shape& result) const {
    const NodeRef numbers = frontend::element_numbers(result, where_);
    return record("identity", {&numbers, 1}, result,
                  [&] { return Function{fmt::format("_value = {}", expression), {{"_i"}}}; });
  }

  std::vector<NodeRef> post_map(const NodeRef& reduced, const ir::Shape& shape,
                                const std::string& text) const {
    std::vector<NodeRef> nodes = {reduced};
    std::vector<std::string_view> indexers;
    for (const auto& [indexer, counted] :
         {std::pair<std::string_view, const ir::Shape&>{"_in_ind", shape},
          {"_out_ind", reduced->shape}}) {
      if (!ir::mentions(text, indexer)) continue;
      nodes.push_back(frontend::element_count(counted, where_));
      indexers.push_back(indexer);
    }
    return record("", nodes, reduced->shape, kernel_.outputs(types_), [&] {
      Function function{text, {{"a"}}};
      for (const std::string_view indexer : indexers) {
        function.inputs.push_back({fmt::format("{}_size", indexer)});
        function.operation =
            fmt::format("const ::heddle_user::Indexer {0}{{0, {0}_size}}; ", indexer) +
            function.operation;
      }
      return function;
    });
  }

 private:
  /// A matrix whose `axis` is all the reduced axes, and the shape of the whole result.
  struct Layout {
    NodeRef matrix;
    std::int64_t axis = 0;
    ir::Shape result;
  };

  /// A function of the kernel's texts.
  struct Function {
    std::string operation;
    std::vector<ir::UserFunction::Parameter> inputs;
  };

  /// Calls of the function that is a part of the kernel. make() returns it; it is made once for
  /// the part, the dtypes and the number of operands. `shape` is that of the outputs.
  template <class Make>
  std::vector<NodeRef> record(std::string_view part, std::span<const NodeRef> operands,
                              const ir::Shape& shape,
                              const std::vector<ir::UserFunction::Named>& outputs,
                              const Make& make) const {
    const std::string key = fmt::format("{} {} {}", types_.key(), part, operands.size());
    const auto calls = kernel_.kept(key, [&] {
      const Function function = make();
      const std::string name =
          part.empty() ? kernel_.name : fmt::format("{}_{}", kernel_.name, part);
      return frontend::user_calls({.name = name,
                                   .operation = function.operation,
                                   .preamble = kernel_.preamble,
                                   .inputs = function.inputs,
                                   .outputs = outputs,
                                   .types = types_.letters()});
    });
    return frontend::record_user_calls(*calls, operands, shape, where_);
  }

  /// The same for a part whose result is reduced, or is to be.
  template <class Make>
  NodeRef record(std::string_view part, std::span<const NodeRef> operands, const ir::Shape& shape,
                 const Make& make) const {
    return record(part, operands, shape, {{"_value", dtype_}}, make).front();
  }

  /// A sum, a product, a logical operation or an extremum. Of a number and NaN, min and max have
  /// the number, as CUDA's functions do. Comparisons have one or the other, by the order of the
  /// two, which the reduction may choose: it chooses the one that gives the number.
  std::optional<Array> heddles_own(const NodeRef& mapped, const std::vector<std::int64_t>& axes,
                                   const std::string& expression) const {
    const std::string text = bare(expression);
    const std::optional<Known> known =
        is_boolean(dtype_) ? known_of_booleans(text) : known_reduction(text);
    if (!known || redefines(text)) return std::nullopt;
    const Array array = Access::make(mapped);
    const Operand x(array, where_);
    switch (*known) {
      case Known::all:
        return is_boolean(dtype_) ? std::optional(all(x, axes, true)) : std::nullopt;
      case Known::any:
        return is_boolean(dtype_) ? std::optional(any(x, axes, true)) : std::nullopt;
      case Known::sum:
        return sum(x, axes, true, dtype_);
      case Known::product:
        return prod(x, axes, true, dtype_);
      case Known::min:
        return is_complex(dtype_) ? std::nullopt : std::optional(nanmin(x, axes, true));
      default:
        return is_complex(dtype_) ? std::nullopt : std::optional(nanmax(x, axes, true));
    }
  }

  /// Whether the preamble has a function of its own by the name in the text.
  bool redefines(const std::string& text) const {
    for (const std::string_view name : {"fmin", "fmax", "min", "max"}) {
      if (text.starts_with(name)) return ir::mentions(kernel_.preamble, name);
    }
    return false;
  }

  /// The last axis stays last, so that neighbouring threads read neighbouring elements.
  Layout matrix_of(const NodeRef& mapped, const std::vector<std::int64_t>& axes) const {
    Layout layout;
    layout.result = mapped->shape;
    const std::int64_t rank = frontend::rank_of(mapped);
    ir::Dim count = 1, kept = 1;
    std::vector<std::int64_t> order;
    for (std::int64_t axis = 0; axis < rank; ++axis) {
      const bool is_reduced = std::ranges::find(axes, axis) != axes.end();
      (is_reduced ? count : kept) *= frontend::extent_of(mapped, axis);
      if (is_reduced) layout.result[static_cast<std::size_t>(axis)] = 1;
      if (!is_reduced) order.push_back(axis);
    }
    layout.axis = std::ranges::find(axes, rank - 1) != axes.end() ? 1 : 0;
    order.insert(layout.axis == 1 ? order.end() : order.begin(), axes.begin(), axes.end());
    const ir::Shape shape = layout.axis == 1 ? ir::Shape{kept, count} : ir::Shape{count, kept};
    layout.matrix = frontend::reshape_to(frontend::permute(mapped, order, where_), shape, where_);
    return layout;
  }

  /// One level of the tree: every `radix` elements along the axis become one; those that remain go
  /// to the next.
  NodeRef combine(const NodeRef& matrix, std::int64_t axis, const std::string& expression) const {
    const std::int64_t count = frontend::extent_of(matrix, axis).constant();
    const std::int64_t together = std::min(count, radix);
    const std::int64_t made = count / together, left = count - made * together;
    std::vector<NodeRef> nodes;
    for (std::int64_t k = 0; k < together; ++k)
      nodes.push_back(frontend::slice_along(matrix, axis, k * made, made, 1, where_));
    const NodeRef combined = record("reduce", nodes, nodes.front()->shape, [&] {
      Function reduce{"decltype(_value) a = _x0, b = _x0; (void)b;", {{"_x0"}}};
      for (std::int64_t k = 1; k < together; ++k) {
        reduce.inputs.push_back({fmt::format("_x{}", k)});
        reduce.operation += fmt::format(" b = _x{}; a = ({});", k, expression);
      }
      reduce.operation += " _value = a";
      return reduce;
    });
    if (left == 0) return combined;
    const NodeRef others = frontend::slice_along(matrix, axis, count - left, left, 1, where_);
    ir::Attributes along;
    along.axes = {axis};
    return frontend::record(ir::Op::concatenate, {combined, others}, along, where_);
  }

  /// The number of each element among those along the axes.
  NodeRef numbers_along(const ir::Shape& shape, const std::vector<std::int64_t>& axes) const {
    ir::Shape extents(shape.size(), ir::Dim(1));
    for (const std::int64_t axis : axes) extents[axis] = shape[axis];
    return frontend::broadcast_to_shape(frontend::element_numbers(extents, where_), shape, where_);
  }

  const KernelDeclaration& kernel_;
  KernelTypes types_;
  KernelParameter reduced_;
  DType dtype_{};
  const SourceLocation& where_;
};

}  // namespace

ReductionKernel::ReductionKernel(std::string_view in_params, std::string_view out_params,
                                 std::string_view map_expr, std::string_view reduce_expr,
                                 std::string_view post_map_expr, std::string_view identity,
                                 std::string_view name, std::string_view reduce_type,
                                 std::string_view preamble)
    : declaration_(
          std::make_shared<KernelDeclaration>(in_params, out_params, map_expr, name, preamble)),
      map_(map_expr),
      reduce_(reduce_expr),
      post_map_(post_map_expr),
      identity_(identity),
      reduce_type_(reduce_type) {
  const bool known =
      reduce_type.empty() || reduce_type.size() == 1 || frontend::dtype_of_type(reduce_type, true);
  if (!known) {
    throw DTypeError(
        fmt::format("{}: reduce_type '{}' is neither a dtype, nor a letter, nor a number's type "
                    "in C",
                    name, reduce_type));
  }
}

std::vector<Array> ReductionKernel::outputs(std::span<const Operand> inputs, const Axes& axes,
                                            bool keepdims, std::span<const Array> bound,
                                            const SourceLocation& where) const {
  const KernelDeclaration& kernel = *declaration_;
  KernelTypes types(kernel.name, where);
  for (std::size_t k = 0; k < std::min(bound.size(), kernel.out.size()); ++k)
    types.bind(kernel.out[k], Access::node(bound[k], where)->dtype);
  const std::vector<NodeRef> nodes = kernel.nodes(inputs, types, where);
  const std::optional<ir::Shape> shape = kernel.shape(inputs, nodes, where);
  if (!shape) {
    throw ValueError(at(fmt::format("{}: all inputs are raw; declare one that is not, over whose "
                                    "elements the kernel runs",
                                    kernel.name),
                        where));
  }
  KernelParameter reduced = kernel.out.front();
  if (!reduce_type_.empty()) {
    reduced.type = reduce_type_;
    reduced.dtype = frontend::dtype_of_type(reduce_type_, true);
  }
  const std::vector<std::int64_t> over =
      frontend::axes_of(kernel.name, axes, static_cast<int>(shape->size()), where);
  const ReductionCall call(kernel, std::move(types), std::move(reduced), where);
  const NodeRef mapped = call.map(nodes, *shape, over, map_);
  ir::Shape result = *shape;
  std::int64_t count = 1;
  for (const std::int64_t axis : over) {
    count *= frontend::constant_extent(kernel.name, mapped, axis, where);
    result[static_cast<std::size_t>(axis)] = 1;
  }
  if (count == 0 && identity_.empty()) {
    throw ValueError(at(fmt::format("{}({}): no elements to reduce, and the kernel has no identity",
                                    kernel.name, frontend::describe(*mapped)),
                        where));
  }
  const NodeRef value =
      count == 0 ? call.identity(identity_, result) : call.reduce(mapped, over, reduce_);
  if (!keepdims) {
    std::vector<std::int64_t> sorted = over;
    std::ranges::sort(sorted, std::greater<>());
    for (const std::int64_t axis : sorted) result.erase(result.begin() + axis);
  }
  const std::vector<NodeRef> made =
      call.post_map(frontend::reshape_to(value, result, where), *shape, post_map_);
  std::vector<Array> arrays;
  for (const NodeRef& one : made) arrays.push_back(Access::make(one));
  return arrays;
}

Array ReductionKernel::operator()(std::initializer_list<Operand> inputs, const Axes& axes,
                                  bool keepdims) const {
  const SourceLocation where = inputs.size() == 0 ? SourceLocation() : inputs.begin()->where();
  if (nout() != 1)
    throw ValueError(at(fmt::format("{}: has {} outputs; call outputs()", name(), nout()), where));
  return outputs(std::span(inputs.begin(), inputs.size()), axes, keepdims, {}, where).front();
}

const std::string& ReductionKernel::name() const { return declaration_->name; }
int ReductionKernel::nin() const { return static_cast<int>(declaration_->in.size()); }
int ReductionKernel::nout() const { return static_cast<int>(declaration_->out.size()); }

}  // namespace heddle
