#include "heddle/index_arrays.h"

#include <algorithm>

#include <fmt/format.h>

#include "frontend/array/access.h"
#include "frontend/array/index_arrays.h"
#include "frontend/array/promote.h"
#include "frontend/array/region.h"
#include "frontend/array/views.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::describe;
using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::rank_of;
using frontend::Site;
using ir::Op;

std::vector<NodeRef> frontend::unraveled(NodeRef flat, const ir::Shape& shape,
                                         const OpRecorder& on) {
  std::vector<NodeRef> result(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 1;) {
    const NodeRef extent = on.extent(shape[axis]);
    result[axis] = on(Op::remainder, flat, extent);
    flat = on(Op::floor_divide, flat, extent);
  }
  if (!shape.empty()) result[0] = flat;
  return result;
}

namespace {

NodeRef number(std::int64_t value) {
  return frontend::record_scalar(DType::i64, static_cast<std::uint64_t>(value), true);
}

/// True if the last axis varies fastest.
bool is_c_order(std::string_view op, std::string_view order, const Site& site) {
  if (order == "C" || order == "F") return order == "C";
  throw ValueError(at(fmt::format("{}: order is \"C\" or \"F\", not \"{}\"", op, order), site));
}

/// Number of elements of the shape. ShapeError for a negative extent, or if the number exceeds 64
/// bits.
std::int64_t size_of(std::string_view op, const Shape& shape, const Site& site) {
  for (std::int64_t extent : shape) {
    if (extent >= 0) continue;
    throw ShapeError(at(fmt::format("{}: the extent {} is negative", op, extent), site));
  }
  return frontend::located(site,
                           [&] { return ir::element_count(frontend::to_ir(shape)).constant(); });
}

/// Integers or bools, as int64. With `checked`, a scalar must lie in [0, bound).
NodeRef whole_numbers(std::string_view op, const Operand& given, std::int64_t bound, bool checked,
                      const OpRecorder& on) {
  const NodeRef node = frontend::node_of(op, given);
  if (is_inexact(node->dtype)) {
    throw DTypeError(
        at(fmt::format("{}: {} must have an integer dtype; cast it first", op, describe(*node)),
           on.site));
  }
  if (given.array() == nullptr && checked) {
    const Scalar& scalar = given.scalar();
    const bool inside = scalar.kind == Scalar::Kind::unsigned_integer
                            ? scalar.unsigned_integer < static_cast<std::uint64_t>(bound)
                            : scalar.integer >= 0 && scalar.integer < bound;
    if (!inside) {
      throw ValueError(
          at(fmt::format("{}: {} is outside of [0, {})", op, frontend::text_of(scalar), bound),
             on.site));
    }
  }
  return on.cast(node, DType::i64);
}

NodeRef nearest_inside(const NodeRef& index, std::int64_t bound, const OpRecorder& on) {
  return on(Op::maximum, on(Op::minimum, index, number(bound - 1)), number(0));
}

bool is_empty(const NodeRef& node) { return ir::element_count(node->shape) == ir::Dim(0); }

[[noreturn]] void nothing_to_index(std::string_view op, const Shape& shape, const Site& site) {
  throw ValueError(at(fmt::format("{}: the shape {} has no elements to index", op,
                                  ir::to_string(frontend::to_ir(shape))),
                      site));
}

}  // namespace

std::vector<Array> unravel_index(const Operand& indices, const Shape& shape,
                                 std::string_view order) {
  const OpRecorder on{indices.where()};
  const bool c_order = is_c_order("unravel_index", order, on.site);
  const std::int64_t size = size_of("unravel_index", shape, on.site);
  const NodeRef given = whole_numbers("unravel_index", indices, size, true, on);
  if (shape.empty() && rank_of(given) > 0) {
    throw ValueError(
        at(fmt::format(
               "unravel_index: a shape without axes has one element, but {} has several indices",
               describe(*given)),
           on.site));
  }
  if (size == 0 && !is_empty(given)) nothing_to_index("unravel_index", shape, on.site);
  ir::Shape extents = frontend::to_ir(shape);
  if (!c_order) std::reverse(extents.begin(), extents.end());
  std::vector<NodeRef> nodes = frontend::unraveled(nearest_inside(given, size, on), extents, on);
  if (!c_order) std::reverse(nodes.begin(), nodes.end());
  std::vector<Array> result;
  for (NodeRef& node : nodes) result.push_back(Access::make(std::move(node)));
  return result;
}

namespace {

/// A coordinate, brought into the range of its axis.
NodeRef coordinate(const Operand& given, std::int64_t extent, std::string_view mode,
                   const OpRecorder& on) {
  if (mode != "raise" && mode != "wrap" && mode != "clip") {
    throw ValueError(
        at(fmt::format("ravel_multi_index: mode is raise, wrap or clip, not {}", mode), on.site));
  }
  const NodeRef index = whole_numbers("ravel_multi_index", given, extent, mode == "raise", on);
  if (mode == "wrap") return on(Op::remainder, index, number(extent));
  return nearest_inside(index, extent, on);
}

}  // namespace

Array ravel_multi_index(std::span<const Operand> coordinates, const Shape& shape,
                        const std::vector<std::string_view>& modes, std::string_view order,
                        SourceLocation where) {
  const OpRecorder on{where};
  const bool c_order = is_c_order("ravel_multi_index", order, where);
  const std::int64_t size = size_of("ravel_multi_index", shape, where);
  const auto check_count = [&](std::size_t count, const char* what) {
    if (count == shape.size()) return;
    throw ValueError(
        at(fmt::format("ravel_multi_index: {} {} for {} axes", count, what, shape.size()), where));
  };
  check_count(coordinates.size(), "coordinates");
  if (modes.size() != 1) check_count(modes.size(), "modes");
  NodeRef result = number(0);
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const std::size_t axis = c_order ? k : shape.size() - 1 - k;
    const NodeRef along = coordinate(coordinates[axis], std::max<std::int64_t>(shape[axis], 1),
                                     modes[modes.size() == 1 ? 0 : axis], on);
    result = k == 0 ? along : on(Op::add, on(Op::multiply, result, number(shape[axis])), along);
  }
  if (size == 0 && !is_empty(result)) nothing_to_index("ravel_multi_index", shape, where);
  return Access::make(result);
}

Array ravel_multi_index(std::initializer_list<Operand> coordinates, const Shape& shape,
                        const std::vector<std::string_view>& modes, std::string_view order,
                        SourceLocation where) {
  return ravel_multi_index(std::span<const Operand>(coordinates.begin(), coordinates.size()), shape,
                           modes, order, where);
}

Array ravel_multi_index(Arrays coordinates, const Shape& shape,
                        const std::vector<std::string_view>& modes, std::string_view order,
                        SourceLocation where) {
  std::vector<Operand> operands;
  for (const Array& each : coordinates) operands.emplace_back(each, where);
  return ravel_multi_index(std::span<const Operand>(operands), shape, modes, order, where);
}

namespace {

/// Maximum number of columns of a triangle, so that the number of elements fits in 64 bits.
constexpr std::int64_t most_columns = std::int64_t{1} << 31;

/// Row and column indices of a triangle. The row of an element is found by a search in the
/// cumulative element counts of the rows.
class Triangle {
 public:
  Triangle(std::int64_t rows, std::int64_t columns, std::int64_t k, bool upper,
           const OpRecorder& on)
      : rows_(std::max<std::int64_t>(rows, 0)),
        columns_(std::max<std::int64_t>(columns, 0)),
        k_(std::clamp(k, -rows_ - 1, columns_ + 1) - (upper ? 1 : 0)),
        upper_(upper),
        on_(on) {}

  std::vector<Array> indices() const {
    const NodeRef ends = up_to(on_(Op::add, on_.places(rows_), number(1)));
    const NodeRef place = on_.places(count());
    const NodeRef row = on_(Op::searchsorted_right, ends, place);
    NodeRef column = on_(Op::subtract, place, up_to(row));
    if (upper_) column = on_(Op::add, column, bounded(on_(Op::add, row, number(k_ + 1))));
    return {Access::make(row), Access::make(column)};
  }

 private:
  NodeRef bounded(const NodeRef& value) const {
    return on_(Op::maximum, on_(Op::minimum, value, number(columns_)), number(0));
  }
  /// 0 + 1 ... + value, with each term limited to the number of columns.
  NodeRef sum_to(const NodeRef& value) const {
    const NodeRef low = bounded(value);
    const NodeRef triangle =
        on_(Op::floor_divide, on_(Op::multiply, low, on_(Op::add, low, number(1))), number(2));
    const NodeRef rest = on_(Op::maximum, on_(Op::subtract, value, number(columns_)), number(0));
    return on_(Op::add, triangle, on_(Op::multiply, rest, number(columns_)));
  }
  std::int64_t sum_to(std::int64_t value) const {
    const std::int64_t low = std::clamp<std::int64_t>(value, 0, columns_);
    return low * (low + 1) / 2 + std::max<std::int64_t>(value - columns_, 0) * columns_;
  }
  /// Number of elements before a row.
  NodeRef up_to(const NodeRef& row) const {
    const NodeRef lower =
        on_(Op::subtract, sum_to(on_(Op::add, row, number(k_))), number(sum_to(k_)));
    return upper_ ? on_(Op::subtract, on_(Op::multiply, row, number(columns_)), lower) : lower;
  }
  std::int64_t count() const {
    const std::int64_t lower = sum_to(rows_ + k_) - sum_to(k_);
    return upper_ ? rows_ * columns_ - lower : lower;
  }

  std::int64_t rows_, columns_;
  std::int64_t k_;  ///< the last diagonal of the lower triangle, or below the upper one
  bool upper_;
  const OpRecorder& on_;
};

std::vector<Array> triangle_of(std::string_view op, std::int64_t rows, std::int64_t columns,
                               std::int64_t k, bool upper, const SourceLocation& where) {
  size_of(op, {std::max<std::int64_t>(rows, 0), std::max<std::int64_t>(columns, 0)}, where);
  if (columns > most_columns) {
    throw ShapeError(
        at(fmt::format("{}: {} columns are more than {}", op, columns, most_columns), where));
  }
  const OpRecorder on{where};
  return Triangle(rows, columns, k, upper, on).indices();
}

std::vector<Array> triangle_from(std::string_view op, const Operand& x, std::int64_t k,
                                 bool upper) {
  const NodeRef node = frontend::node_of(op, x);
  if (rank_of(node) != 2) {
    throw ShapeError(at(fmt::format("{}({}): takes a matrix", op, describe(*node)), x.where()));
  }
  const Shape shape = frontend::constant_shape(op, node, x.where());
  return triangle_of(op, shape[0], shape[1], k, upper, x.where());
}

}  // namespace

std::vector<Array> tril_indices(std::int64_t rows, std::int64_t k,
                                std::optional<std::int64_t> columns, SourceLocation where) {
  return triangle_of("tril_indices", rows, columns.value_or(rows), k, false, where);
}
std::vector<Array> triu_indices(std::int64_t rows, std::int64_t k,
                                std::optional<std::int64_t> columns, SourceLocation where) {
  return triangle_of("triu_indices", rows, columns.value_or(rows), k, true, where);
}
std::vector<Array> tril_indices_from(const Operand& x, std::int64_t k) {
  return triangle_from("tril_indices_from", x, k, false);
}
std::vector<Array> triu_indices_from(const Operand& x, std::int64_t k) {
  return triangle_from("triu_indices_from", x, k, true);
}

std::vector<Array> diag_indices(std::int64_t n, std::int64_t ndim, SourceLocation where) {
  const OpRecorder on{where};
  const Array places = Access::make(on.places(std::max<std::int64_t>(n, 0)));
  return std::vector<Array>(static_cast<std::size_t>(std::max<std::int64_t>(ndim, 0)), places);
}

namespace {

/// The shape. If there are more than two axes (or `always_equal`), all extents must be equal.
Shape diagonal_shape(std::string_view op, const NodeRef& node, bool always_equal,
                     const SourceLocation& where) {
  frontend::require_rank(op, node, 2, where);
  Shape shape = frontend::constant_shape(op, node, where);
  const bool equal = std::all_of(shape.begin(), shape.end(),
                                 [&](std::int64_t extent) { return extent == shape[0]; });
  if (equal || (shape.size() == 2 && !always_equal)) return shape;
  throw ShapeError(
      at(fmt::format("{}({}): all axes must have the same extent", op, describe(*node)), where));
}

}  // namespace

std::vector<Array> diag_indices_from(const Operand& x) {
  const NodeRef node = frontend::node_of("diag_indices_from", x);
  const Shape shape = diagonal_shape("diag_indices_from", node, true, x.where());
  return diag_indices(shape[0], static_cast<std::int64_t>(shape.size()), x.where());
}

std::vector<Array> ix_(Arrays vectors, SourceLocation where) {
  const OpRecorder on{where};
  std::vector<Array> result;
  for (std::size_t axis = 0; axis < vectors.size(); ++axis) {
    NodeRef node = Access::node(vectors[axis], where);
    if (rank_of(node) != 1) {
      throw ShapeError(at(fmt::format("ix_: takes vectors, not {}", describe(*node)), where));
    }
    if (is_boolean(node->dtype)) node = frontend::nonzero_indices("ix_", node, where).front();
    ir::Shape shape(vectors.size(), 1);
    shape[axis] = node->shape[0];
    result.push_back(Access::make(on.reshape(node, std::move(shape))));
  }
  return result;
}

void fill_diagonal(Array& x, const Operand& values, bool wrap) {
  const OpRecorder on{values.where()};
  const NodeRef node = Access::node(x, values.where());
  const Shape shape = diagonal_shape("fill_diagonal", node, false, on.site);
  const NodeRef value = on.flat(frontend::element_node("fill_diagonal", values, node->dtype));
  // A slice of the flattened array with this step; the last element is before the end.
  std::int64_t step = 1, size = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (axis > 0) step = step * shape[axis] + 1;
    size *= shape[axis];
  }
  const bool one_only = shape.size() == 2 && !wrap;
  const std::int64_t end = one_only ? std::min(size, shape[1] * shape[1]) : size;
  const std::int64_t count = (end + step - 1) / step;
  if (count == 0 || is_empty(value)) return;
  ir::Attributes place;
  place.starts = {0};
  place.steps = {step};
  place.shape = {count};
  const NodeRef repeated = frontend::periodic(value, 0, 0, count, on.site);
  const NodeRef changed =
      frontend::record(Op::slice_update, {on.flat(node), repeated}, std::move(place), on.site);
  x = Access::make(on.reshape(changed, node->shape));
}

}  // namespace heddle
