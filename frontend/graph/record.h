#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "heddle/array.h"
#include "heddle/axis_error.h"

#include "frontend/graph/node.h"
#include "ir/types/op.h"

namespace heddle::frontend {

/// Records op(operands). The operands must already have the dtypes that the op requires. Throws the
/// errors of ir::infer, with the user's line.
NodeRef record(ir::Op op, std::span<const NodeRef> operands, ir::Attributes attributes, Site site);
inline NodeRef record(ir::Op op, std::initializer_list<NodeRef> operands, ir::Attributes attributes,
                      Site site) {
  return record(op, std::span(operands.begin(), operands.size()), std::move(attributes), site);
}
inline NodeRef record(ir::Op op, std::initializer_list<NodeRef> operands, Site site) {
  return record(op, std::span(operands.begin(), operands.size()), {}, site);
}
/// The same for an elementwise op without attributes. Moves the operands' references.
NodeRef record_elementwise(ir::Op op, std::span<NodeRef> operands, const Site& site);
/// The same for an op that is known to be valid, with a result of that type. Checked in a trace,
/// where extents may be symbols.
NodeRef record_valid(ir::Op op, std::span<const NodeRef> operands, ir::Attributes attributes,
                     ir::Type type, const Site& site);
inline NodeRef record_valid(ir::Op op, const NodeRef& operand, ir::Attributes attributes,
                            ir::Type type, const Site& site) {
  return record_valid(op, std::span(&operand, 1), std::move(attributes), std::move(type), site);
}

/// Records a call and returns its results.
std::vector<NodeRef> record_call(const ir::CallOp& op, std::span<const NodeRef> operands,
                                 std::initializer_list<ir::NamedAttribute> attributes, Site site,
                                 std::vector<ir::Region> regions = {});
/// The same, with attributes of ir::call_attributes.
std::vector<NodeRef> record_call(std::span<const NodeRef> operands, ir::Attributes attributes,
                                 Site site);
/// The same for an op with one result, whose type is known. Checked in a trace, where extents may
/// be symbols.
NodeRef record_valid_call(std::span<const NodeRef> operands, ir::Attributes attributes,
                          ir::Type type, Site site);

/// A 0-d node for a number that is known now. As with a host scalar, a bool is a constant of
/// programs, and other numbers are arguments.
NodeRef record_number(DType dtype, ir::ElementBits bits);
/// A 0-d node for a host scalar. It is a program argument; it is a program constant if `constant`
/// is true or this thread is tracing.
NodeRef record_scalar(DType dtype, ir::ElementBits bits, bool constant);
NodeRef record_constant(DType dtype, double value);
/// A node with an existing value.
NodeRef array_node(runtime::DeviceArray array);

/// Indices along an axis of an array of the given shape.
NodeRef record_iota(ir::Shape shape, std::int64_t axis, DType dtype, Site site);

/// Casts the node to a dtype; returns the node itself if it already has it. A weak scalar is
/// instead converted like a C++ scalar: DTypeError, naming `op`, for an integer that does not fit.
NodeRef cast_to(const NodeRef& node, DType dtype, Site site, std::string_view op = "cast");
NodeRef reshape_to(const NodeRef& node, ir::Shape shape, Site site);
NodeRef broadcast_to_shape(const NodeRef& node, ir::Shape shape, Site site);

/// The bits of a scalar in a dtype. DTypeError, naming `op`, for a number that does not fit an
/// integer dtype.
ir::ElementBits scalar_bits(std::string_view op, const Scalar& scalar, DType dtype, Site site);
/// The bits of a number that is known to be representable in the dtype.
ir::ElementBits bits_of(DType dtype, double value);
/// Compares a number, after truncation, with the range of an integer dtype: -1 if below, 1 if above
/// or NaN, 0 if it fits.
int compare_with_range(const Scalar& scalar, DType dtype);
/// The scalar as float64; integers beyond 2^53 are rounded. For a complex scalar, its real part.
double value_of(const Scalar& scalar);
/// The dtype that NumPy gives a Python scalar: bool, int64 (uint64 if it does not fit), float64 or
/// complex128.
DType default_dtype(const Scalar& scalar);
std::string text_of(const Scalar& scalar);

/// "message (file.cpp:12)"
std::string at(std::string_view message, const Site& site);
/// Calls the function and appends the source location to Heddle exceptions that it throws.
template <class Function>
auto located(const Site& site, Function&& function) {
  try {
    return function();
  } catch (const ShapeError& error) {
    throw ShapeError(at(error.what(), site));
  } catch (const DTypeError& error) {
    throw DTypeError(at(error.what(), site));
  } catch (const AxisError& error) {
    throw AxisError(at(error.what(), site), error.axis(), error.ndim());
  } catch (const IndexError& error) {
    throw IndexError(at(error.what(), site));
  } catch (const ValueError& error) {
    throw ValueError(at(error.what(), site));
  }
}

ir::Shape to_ir(const Shape& shape);
/// "f32[3,4]"
std::string describe(const Node& node);

}  // namespace heddle::frontend
