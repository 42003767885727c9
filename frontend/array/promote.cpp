#include "frontend/array/promote.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/array/at_once.h"
#include "frontend/array/known_numbers.h"
#include "frontend/graph/storage.h"
#include "frontend/graph/trace.h"
#include "ir/types/element.h"

namespace heddle::frontend {
namespace {

using ir::Op;
using ir::TypeRule;

/// Properties of an operand for type promotion.
struct Part {
  DType dtype;
  bool weak;    ///< takes the other operands' dtype within its kind
  bool scalar;  ///< a C++ scalar
};

/// The dtype of a weak value that is combined with no array: NumPy's for a Python scalar.
DType default_dtype(DType dtype) {
  if (is_complex(dtype)) return DType::c128;
  if (is_floating(dtype)) return DType::f64;
  return is_boolean(dtype) ? DType::boolean : DType::i64;
}

Part part_of(const Operand& operand) {
  if (operand.array() == nullptr) return {operand.scalar().dtype, true, true};
  const NodeRef& node = Access::borrow(*operand.array(), operand.where());
  const bool beyond_default = node->dtype == DType::u64;
  const DType dtype = node->weak && !beyond_default ? default_dtype(node->dtype) : node->dtype;
  return {dtype, node->weak, false};
}

/// True for a weak integer that does not fit int64.
bool is_beyond_default(const Operand& operand, const Part& part) {
  if (!part.weak || part.dtype != DType::u64) return false;
  return operand.array() != nullptr || compare_with_range(operand.scalar(), DType::i64) != 0;
}

/// NEP 50: if a weak scalar has a higher kind than the array, the result is that kind's default
/// dtype.
DType join_weak(DType strong, DType weak) {
  if (is_complex(weak)) return is_inexact(strong) ? complex_dtype(strong) : DType::c128;
  if (is_floating(weak) && !is_inexact(strong)) return DType::f64;
  if (is_integer(weak) && is_boolean(strong)) return DType::i64;
  return strong;
}

/// The floating dtype for all operands, whose common dtype is given. int8 and uint8 each map to
/// float16, although their common dtype int16 maps to float32.
DType floating_of(std::span<const Operand* const> operands, DType common) {
  std::optional<DType> result;
  for (const Operand* operand : operands) {
    const Part part = part_of(*operand);
    if (part.weak || is_inexact(common)) return floating_dtype(common);
    const DType dtype = floating_dtype(part.dtype);
    result = result ? promote_types(*result, dtype) : dtype;
  }
  return *result;
}

/// Exponents that have kernels of their own.
bool is_special_exponent(const Scalar& scalar) {
  const double value = value_of(scalar);
  return scalar.imaginary == 0 &&
         (value == -1 || value == 0 || value == 0.5 || value == 1 || value == 2 || value == 3);
}

bool is_common_constant(double value) {
  return (value == 0 && !std::signbit(value)) || value == 1 || value == -1;
}

NodeRef node_of(std::string_view op, const Operand& operand, DType dtype, bool exponent) {
  if (operand.array() != nullptr) {
    const NodeRef& node = Access::borrow(*operand.array(), operand.where());
    const bool as_it_is = node->dtype == dtype && !node->weak;
    return as_it_is ? node : cast_to(node, dtype, operand.where(), op);
  }
  const Scalar& scalar = operand.scalar();
  const ir::ElementBits bits = scalar_bits(op, scalar, dtype, operand.where());
  const bool constant =
      exponent ? is_special_exponent(scalar)
               : is_common_constant(value_of(scalar)) && is_common_constant(scalar.imaginary);
  return record_scalar(dtype, bits, constant || is_boolean(dtype));
}

/// The common dtype. As in NumPy, each integer dtype is promoted with the inexact dtypes, and not
/// with the promotion of other integers: uint16, int16 and float32 give float32, not float64.
DType common_of(ir::DTypeSet dtypes) {
  std::optional<DType> result;
  for (int i = dtype_count; i-- > 0;) {  // inexact dtypes come last
    const auto dtype = static_cast<DType>(i);
    if ((dtypes & ir::set_of(dtype)) == 0) continue;
    result = result ? promote_types(*result, dtype) : dtype;
  }
  return *result;
}

using Operands = std::span<const Operand* const>;

/// Of an elementwise op.
constexpr std::size_t most_operands = 5;

bool all_weak(Operands operands) {
  bool any_array = false;
  for (const Operand* operand : operands) {
    const Part part = part_of(*operand);
    if (!part.weak) return false;
    any_array |= !part.scalar;
  }
  return any_array;
}

Array finish(NodeRef node, Operands operands) {
  if (Trace::current() == nullptr) return Access::make(std::move(node));  // no array is weak
  const TypeRule rule = ir::info(node->op).rule;
  const bool arithmetic = rule == TypeRule::arithmetic || rule == TypeRule::divide ||
                          rule == TypeRule::floating || rule == TypeRule::select ||
                          rule == TypeRule::real_part;
  if (arithmetic && all_weak(operands)) node->weak = true;
  return Access::make(std::move(node));
}

Array record_in(Op op, Operands operands, DType dtype) {
  if (auto computed = elementwise_at_once(op, operands, dtype)) return *std::move(computed);
  const std::string_view name = ir::info(op).name;
  std::array<NodeRef, most_operands> nodes;
  for (std::size_t i = 0; i < operands.size(); ++i)
    nodes.at(i) = node_of(name, *operands[i], dtype, op == Op::power && i == 1);
  return finish(
      record_elementwise(op, std::span(nodes).first(operands.size()), operands[0]->where()),
      operands);
}

/// compare_with_range() an integer scalar operand, 0 for other operands. For a traced scalar
/// argument, the trace is then valid only for values on that side.
int side_of_operand(const Operand& operand, DType dtype) {
  if (operand.array() == nullptr) {
    const Scalar& scalar = operand.scalar();
    return scalar.is_inexact() ? 0 : compare_with_range(scalar, dtype);
  }
  const NodeRef node = Access::node(*operand.array(), operand.where());
  if (!node->weak || is_inexact(node->dtype)) return 0;
  return Trace::current()->assume_range_side(node, dtype);
}

Scalar scalar_of(const Operand& operand) {
  if (operand.array() == nullptr) return operand.scalar();
  return Trace::current()->value_of(*Access::node(*operand.array(), operand.where())).value();
}

/// The first negative element of a computed integer array in host memory.
std::optional<std::int64_t> negative_on_host(const NodeRef& node) {
  const std::byte* const elements = elements_on_host(*node);
  if (elements == nullptr || !is_signed_integer(node->dtype)) return std::nullopt;
  const auto count = static_cast<std::size_t>(ir::element_count(node->shape).constant());
  return ir::with_element(node->dtype, [&]<class T>(std::type_identity<T>) {
    std::optional<std::int64_t> found;
    if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
      const T* const first = reinterpret_cast<const T*>(elements);
      const T* const place = std::find_if(first, first + count, [](T value) { return value < 0; });
      if (place != first + count) found = static_cast<std::int64_t>(*place);
    }
    return found;
  });
}

/// Throws NumPy's error for negative exponents that are known now: scalars, and arrays computed on
/// the host.
void check_integer_power(Operands operands, DType dtype) {
  const Operand& exponent = *operands[1];
  // Without elements, no power is computed.
  const auto is_empty = [](const Operand* operand) {
    if (operand->array() == nullptr) return false;
    const ir::Shape& shape = Access::node(*operand->array(), operand->where())->shape;
    return std::find(shape.begin(), shape.end(), ir::Dim(0)) != shape.end();
  };
  if (!is_integer(dtype) || std::any_of(operands.begin(), operands.end(), is_empty)) return;
  std::string negative;
  if (side_of_operand(exponent, DType::u64) < 0) {
    negative = text_of(scalar_of(exponent));
  } else if (exponent.array() != nullptr) {
    const auto found = negative_on_host(Access::node(*exponent.array(), exponent.where()));
    if (found) negative = std::to_string(*found);
  }
  if (negative.empty()) return;
  throw ValueError(at(fmt::format("power: integers to the negative integer power {} are not "
                                  "integers; cast the base to a floating dtype",
                                  negative),
                      operands[0]->where()));
}

DType arithmetic_dtype(Op op, DType dtype, const SourceLocation& where) {
  const ir::OpInfo& info = ir::info(op);
  if (!is_boolean(dtype) || (info.dtypes & ir::set_of(dtype)) != 0) return dtype;
  if (info.has(ir::boolean_as_i8)) return DType::i8;
  const char* instead = op == Op::subtract   ? "logical_xor or bitwise_xor"
                        : op == Op::negative ? "logical_not or operator~"
                                             : "astype to an integer dtype";
  throw DTypeError(
      at(fmt::format("{} is not defined for bool; use {}", info.name, instead), where));
}

/// compare(array, scalar) for an integer outside the range of the array's dtype: the result is the
/// same for all elements.
Array constant_comparison(Op op, int side, const Operand& array) {
  const bool result =
      op == Op::not_equal || (side > 0 ? op == Op::less || op == Op::less_equal
                                       : op == Op::greater || op == Op::greater_equal);
  const NodeRef node = Access::node(*array.array(), array.where());
  return Access::make(broadcast_to_shape(record_scalar(DType::boolean, result ? 1 : 0, true),
                                         node->shape, array.where()));
}

/// The comparison for exchanged operands.
Op mirrored(Op op) {
  switch (op) {
    case Op::less:
      return Op::greater;
    case Op::less_equal:
      return Op::greater_equal;
    case Op::greater:
      return Op::less;
    case Op::greater_equal:
      return Op::less_equal;
    default:
      return op;
  }
}

/// Compares a signed integer with uint64 exactly, since no dtype holds both.
Array compare_mixed(Op op, const Operand& x, const Operand& y) {
  const DType dtype = part_of(x).dtype;
  if (!is_signed_integer(dtype)) return compare_mixed(mirrored(op), y, x);
  const Site site = x.where();
  const NodeRef signed_node = node_of("", x, dtype, false);
  const NodeRef unsigned_node = node_of("", y, DType::u64, false);
  const NodeRef negative = record(Op::less, {signed_node, record_constant(dtype, 0)}, site);
  const NodeRef compared =
      record(op, {cast_to(signed_node, DType::u64, site), unsigned_node}, site);
  const bool when_negative = op == Op::less || op == Op::less_equal || op == Op::not_equal;
  return Access::make(record(
      Op::select, {negative, record_scalar(DType::boolean, when_negative ? 1 : 0, true), compared},
      site));
}

Array compare(Op op, Operands operands) {
  const Operand &x = *operands[0], &y = *operands[1];
  const Part a = part_of(x), b = part_of(y);
  if (const int side = b.weak ? 0 : side_of_operand(x, b.dtype); side != 0) {
    return constant_comparison(mirrored(op), side, y);
  }
  if (const int side = a.weak ? 0 : side_of_operand(y, a.dtype); side != 0) {
    return constant_comparison(op, side, x);
  }
  const bool mixed = !a.weak && !b.weak &&
                     ((is_signed_integer(a.dtype) && b.dtype == DType::u64) ||
                      (is_signed_integer(b.dtype) && a.dtype == DType::u64));
  if (mixed) return compare_mixed(op, x, y);
  return record_in(op, operands, common_dtype(operands));
}

/// Casts real operands; ir::infer rejects others.
Array draw(Op op, Operands operands) {
  const std::string_view name = ir::info(op).name;
  std::vector<NodeRef> nodes;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const DType to = ir::operand_dtype(TypeRule::draw, k, DType::f64);
    const Operand& operand = *operands[k];
    const DType dtype = part_of(operand).dtype;
    const bool real = is_integer(dtype) || (is_floating(dtype) && to == DType::f64);
    const bool is_array = operand.array() != nullptr;
    nodes.push_back(is_array && !real ? Access::node(*operand.array(), operand.where())
                                      : node_of(name, operand, to, false));
  }
  return Access::make(record(op, nodes, {}, operands[0]->where()));
}

Array load_exponent(Op op, Operands operands) {
  const std::string_view name = ir::info(op).name;
  const Operand* x = operands[0];
  const Operand& y = *operands[1];
  const DType dtype = floating_dtype(common_dtype({&x, 1}));
  const Part exponent = part_of(y);
  if (is_inexact(exponent.dtype)) {
    throw DTypeError(at(fmt::format("{}: the exponent must be an integer, not {}", name,
                                    numpy_name_of(exponent.dtype)),
                        y.where()));
  }
  NodeRef node = node_of(name, y, exponent.scalar ? DType::i64 : exponent.dtype, false);
  const Site site = x->where();
  if (node->dtype == DType::u32 || node->dtype == DType::u64 || node->dtype == DType::i64) {
    // Beyond this limit the result is 0 or infinite anyway, and the limit fits the cast.
    constexpr double limit = 1 << 20;
    node = record(Op::minimum, {node, record_constant(node->dtype, limit)}, site);
    if (node->dtype == DType::i64) {
      node = record(Op::maximum, {node, record_constant(node->dtype, -limit)}, site);
    }
  }
  return Access::make(
      record(op, {node_of(name, *x, dtype, false), cast_to(node, DType::i32, site)}, site));
}

}  // namespace

DType common_dtype(Operands operands) {
  ir::DTypeSet strong = 0;
  std::optional<DType> weak;
  bool only_scalars = true, beyond_default = false;
  for (const Operand* operand : operands) {
    const Part part = part_of(*operand);
    only_scalars &= part.scalar;
    beyond_default |= is_beyond_default(*operand, part);
    const DType dtype = part.dtype;
    if (!part.weak) {
      strong |= ir::set_of(dtype);
      continue;
    }
    const bool integers = weak && is_integer(*weak) && is_integer(dtype);
    weak = weak ? promote_types(*weak, dtype) : dtype;
    // Weak integers without a common dtype still count as integers, as in Python.
    if (integers && is_inexact(*weak)) weak = DType::i64;
  }
  if (weak && is_integer(*weak) && beyond_default) weak = DType::u64;
  if (strong == 0) return only_scalars || beyond_default ? *weak : default_dtype(*weak);
  return weak ? join_weak(common_of(strong), *weak) : common_of(strong);
}

NodeRef node_of(std::string_view op, const Operand& operand, DType dtype) {
  return node_of(op, operand, dtype, false);
}

NodeRef node_of(std::string_view op, const Operand& operand) {
  return node_of(op, operand, part_of(operand).dtype, false);
}

NodeRef asarray_node(std::string_view op, const Operand& operand) {
  const bool beyond =
      operand.array() == nullptr && operand.scalar().kind == Scalar::Kind::large_integer;
  if (!beyond) return node_of(op, operand);
  return record_scalar(DType::f64, bits_of(DType::f64, operand.scalar().floating), false);
}

NodeRef element_node(std::string_view op, const Operand& value, DType dtype) {
  if (part_of(value).weak) return node_of(op, value, dtype);
  return Access::node(astype(value, dtype), value.where());
}

NodeRef fill_node(std::string_view op, const Operand& value, DType dtype) {
  const Part part = part_of(value);
  if (part.weak && (!is_floating(part.dtype) || is_inexact(dtype)))
    return node_of(op, value, dtype);
  return Access::node(astype(value, dtype), value.where());
}

Array elementwise(Op op, std::initializer_list<const Operand*> list) {
  const Operands operands(list.begin(), list.size());
  if (auto known = of_known_numbers(op, operands)) return *std::move(known);
  const ir::OpInfo& info = ir::info(op);
  const SourceLocation where = operands[0]->where();
  if (info.rule == TypeRule::load_exponent) return load_exponent(op, operands);
  if (info.rule == TypeRule::draw || info.rule == TypeRule::sample_single)
    return draw(op, operands);
  if (info.rule == TypeRule::comparison) return compare(op, operands);
  if (info.rule == TypeRule::select) {
    return select(*operands[0], *operands[1], *operands[2], info.name);
  }
  const DType dtype = common_dtype(operands);
  if (info.has(ir::identity_on_integers) && !is_inexact(dtype)) {
    return Access::make(node_of(info.name, *operands[0], dtype, false));
  }
  switch (info.rule) {
    case TypeRule::floating:
    case TypeRule::exponent:
      return record_in(op, operands, floating_of(operands, dtype));
    case TypeRule::divide:
      return record_in(op, operands, is_inexact(dtype) ? dtype : DType::f64);
    case TypeRule::complex_of: {
      const DType floating = floating_dtype(dtype);
      return record_in(op, operands, size_of(floating) < 4 ? DType::f32 : floating);
    }
    case TypeRule::arithmetic:
    case TypeRule::bit_count: {
      const DType used = arithmetic_dtype(op, dtype, where);
      if (op == Op::power) check_integer_power(operands, used);
      return record_in(op, operands, used);
    }
    default:
      return record_in(op, operands, dtype);
  }
}

Array unary(Op op, const Operand& x) { return elementwise(op, {&x}); }
Array binary(Op op, const Operand& x, const Operand& y) { return elementwise(op, {&x, &y}); }

Array select(const Operand& condition, const Operand& x, const Operand& y, std::string_view name) {
  const Operand* values[] = {&x, &y};
  const DType dtype = common_dtype(values);
  NodeRef chosen = node_of(name, condition);
  if (!is_boolean(chosen->dtype)) {
    chosen = record(Op::not_equal, {chosen, record_constant(chosen->dtype, 0)}, condition.where());
  }
  return finish(record(Op::select, {chosen, node_of(name, x, dtype), node_of(name, y, dtype)},
                       condition.where()),
                values);
}

Array clip(const Operand& x, const Operand* low, const Operand* high) {
  const NodeRef node = node_of("clip", x);
  // Integers outside the array's dtype do not bound anything.
  const bool has_low = low != nullptr && side_of_operand(*low, node->dtype) >= 0;
  const bool has_high = high != nullptr && side_of_operand(*high, node->dtype) <= 0;
  std::vector<const Operand*> operands{&x};
  if (has_low) operands.push_back(low);
  if (has_high) operands.push_back(high);
  const Site site = x.where();
  const DType dtype = common_dtype(operands);
  NodeRef result = cast_to(node, dtype, site, "clip");
  if (has_low) result = record(Op::maximum, {result, node_of("clip", *low, dtype)}, site);
  if (has_high) result = record(Op::minimum, {result, node_of("clip", *high, dtype)}, site);
  return finish(result, operands);
}

DType accumulator_dtype(DType dtype) {
  if (is_unsigned_integer(dtype)) return DType::u64;
  if (is_boolean(dtype) || is_signed_integer(dtype)) return DType::i64;
  return dtype;
}

namespace {

/// The kind of a dtype, as a number in NumPy's order.
int kind_of(DType dtype) {
  if (is_boolean(dtype)) return 0;
  if (is_unsigned_integer(dtype)) return 1;
  if (is_signed_integer(dtype)) return 2;
  return is_floating(dtype) ? 3 : 4;
}

}  // namespace

bool can_cast_same_kind(DType from, DType to) { return kind_of(from) <= kind_of(to); }

bool holds_kind_of(const Operand& operand, DType dtype) {
  const Part part = part_of(operand);
  const bool integers = is_integer(part.dtype) && is_integer(dtype);
  return (part.weak && integers) || can_cast_same_kind(part.dtype, dtype);
}

Array in_place(std::string_view op, const Array& before, const Array& after, const Site& site) {
  const NodeRef& old_node = Access::raw(before);
  const NodeRef& new_node = Access::raw(after);
  if (old_node->shape != new_node->shape) {
    throw ShapeError(at(fmt::format("{}: the result {} does not fit the array {} in place", op,
                                    describe(*new_node), describe(*old_node)),
                        site));
  }
  if (!can_cast_same_kind(new_node->dtype, old_node->dtype)) {
    throw DTypeError(
        at(fmt::format("{}: the result is {} and cannot be stored in an array of {}; "
                       "write x = x ... or cast",
                       op, numpy_name_of(new_node->dtype), numpy_name_of(old_node->dtype)),
           site));
  }
  return Access::make(cast_to(new_node, old_node->dtype, site));
}

}  // namespace heddle::frontend
