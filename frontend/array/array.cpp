#include "heddle/array.h"

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "heddle/elementwise.h"
#include "heddle/linear_algebra.h"
#include "heddle/manipulation.h"
#include "heddle/reductions.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/array/single_element.h"
#include "frontend/evaluate/checks.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/storage.h"
#include "frontend/graph/trace.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::Cell;
using frontend::NodeRef;
using frontend::Site;
using frontend::Trace;

namespace {

std::int64_t known_extent(const frontend::Node& node, std::size_t axis, const Site& site) {
  const ir::Dim extent = node.shape[axis];
  if (extent.is_constant()) return extent.constant();
  throw TraceError(at(fmt::format("the extent {} of axis {} is symbolic inside this trace; use -1 "
                                  "in reshape, or make it fixed (hd::fixed, in Python None)",
                                  extent.to_string(), axis),
                      site));
}

}  // namespace

const NodeRef& frontend::evaluated_node(const Array& array, const char* what, const Site& where) {
  if (Trace::current() != nullptr) frontend::value_in_trace(what, where);
  static_cast<void>(Access::node(array, SourceLocation()));
  const NodeRef& node = Access::raw(array);
  frontend::require_waiting(what, where);
  if (!node->evaluated()) {
    frontend::evaluate_with_statuses(node);
    frontend::note_explicit_evaluation();
  }
  frontend::raise_failures(node);
  return node;
}

Array::Array(const Array& other) {
  if (!other.has_value()) return;
  Array copy = Access::make(Access::node(other, SourceLocation()));
  std::swap(cell_, copy.cell_);
}

Array::Array(Array&& other) noexcept : cell_(Access::move_cell(other)) {}

Array& Array::operator=(const Array& other) {
  if (this == &other) return *this;
  if (!other.has_value()) return *this = Array();
  return *this = Access::make(Access::node(other, SourceLocation()));
}

Array& Array::operator=(Array&& other) {  // NOLINT(performance-noexcept-move-constructor)
  if (this == &other) return *this;
  if (cell_ == nullptr) {
    cell_ = Access::move_cell(other);
  } else {
    Access::check_assignable(*this);
    NodeRef value;
    if (Cell* moved = Access::move_cell(other); moved != nullptr) {
      value = std::move(moved->node);
      frontend::CellRef::release(moved);
    }
    Access::assign(*this, std::move(value));
  }
  if (cell_ != nullptr && cell_->node) frontend::assignment_point(cell_->node);
  return *this;
}

Array::~Array() {
  if (cell_ != nullptr && cell_->shared()) {
    cell_->node = NodeRef();
    cell_->abandoned.store(true, std::memory_order_relaxed);
  }
  frontend::CellRef::release(cell_);
}

bool Array::has_value() const { return cell_ != nullptr && cell_->node; }

DType Array::dtype() const { return Access::borrow(*this, SourceLocation())->dtype; }

Shape Array::shape() const {
  const NodeRef node = Access::node(*this, SourceLocation());
  Shape shape;
  for (std::size_t axis = 0; axis < node->shape.size(); ++axis) {
    shape.push_back(known_extent(*node, axis, SourceLocation()));
  }
  return shape;
}

std::int64_t Array::shape(int axis, SourceLocation where) const {
  const NodeRef node = Access::node(*this, where);
  const int place = frontend::located(
      where, [&] { return ir::normalize_axis(axis, static_cast<int>(node->shape.size())); });
  return known_extent(*node, static_cast<std::size_t>(place), where);
}

int Array::ndim() const {
  return static_cast<int>(Access::borrow(*this, SourceLocation())->shape.size());
}

std::int64_t Array::size() const {
  std::int64_t count = 1;
  for (std::int64_t extent : shape()) count *= extent;
  return count;
}

std::int64_t Array::nbytes() const { return size() * static_cast<std::int64_t>(size_of(dtype())); }

const Array& Array::eval() const {
  heddle::eval(std::span(this, 1));
  return *this;
}

void eval(Arrays arrays) {
  if (Trace::current() != nullptr) frontend::value_in_trace("eval", Site());
  std::vector<NodeRef> nodes;
  for (const Array& array : arrays) {
    static_cast<void>(Access::node(array, SourceLocation()));
    nodes.push_back(Access::raw(array));
  }
  frontend::evaluate(nodes);
  frontend::note_explicit_evaluation();
}

void Array::read_item(void* out, DType dtype, SourceLocation where) const {
  if (ir::ElementBits element; frontend::read_single_element(*this, "item", where, element.bytes()))
    return frontend::convert(element.bytes(), this->dtype(), out, dtype, 1);
  const NodeRef node = frontend::evaluated_node(*this, "item", where);
  if (size() != 1) {
    throw ValueError(
        frontend::at(fmt::format("item: the array {} has {} elements, not 1; index it first",
                                 frontend::describe(*node), size()),
                     where));
  }
  ir::ElementBits element;
  frontend::download_to(*node, element.bytes());
  frontend::convert(element.bytes(), node->dtype, out, dtype, 1);
}

std::size_t Array::read_size(SourceLocation where) const {
  if (Trace::current() != nullptr) frontend::value_in_trace("to_vector", where);
  static_cast<void>(Access::node(*this, where));
  return static_cast<std::size_t>(size());
}

void Array::read_elements(void* out, DType dtype, SourceLocation where) const {
  const NodeRef node = frontend::evaluated_node(*this, "to_vector", where);
  if (node->dtype == dtype) return frontend::download_to(*node, out);
  const std::vector<std::byte> bytes = frontend::download(*node);
  frontend::convert(bytes.data(), node->dtype, out, dtype, static_cast<std::size_t>(size()));
}

const void* Array::read_memory(DType dtype, SourceLocation where) const {
  const NodeRef node = frontend::evaluated_node(*this, "span", where);
  if (node->dtype != dtype) {
    throw DTypeError(frontend::at(
        fmt::format(
            "span: the array {} does not have elements of type {}; convert it with astype first",
            frontend::describe(*node), numpy_name_of(dtype)),
        where));
  }
  const std::byte* const elements = frontend::elements_on_host(*node);
  if (elements != nullptr || size() == 0) return elements;
  throw DeviceError(
      frontend::at(fmt::format("span: the array {} is on a GPU; copy its elements with to_vector",
                               frontend::describe(*node)),
                   where));
}

Array Array::T(SourceLocation where) const { return heddle::transpose({*this, where}); }
Array Array::astype(DType dtype, SourceLocation where) const {
  return heddle::astype({*this, where}, dtype);
}
Array Array::reshape(const Shape& shape, SourceLocation where) const {
  return heddle::reshape({*this, where}, shape);
}
Array Array::ravel(SourceLocation where) const { return heddle::ravel({*this, where}); }
Array Array::flatten(SourceLocation where) const { return heddle::ravel({*this, where}); }
Array Array::transpose(const std::vector<std::int64_t>& axes, SourceLocation where) const {
  return heddle::transpose({*this, where}, axes);
}
Array Array::swapaxes(std::int64_t a, std::int64_t b, SourceLocation where) const {
  return heddle::swapaxes({*this, where}, a, b);
}
Array Array::squeeze(const Axes& axes, SourceLocation where) const {
  return heddle::squeeze({*this, where}, axes);
}

#define HEDDLE_REDUCTION_METHOD(name)                                              \
  Array Array::name(const Axes& axes, bool keepdims, SourceLocation where) const { \
    return heddle::name({*this, where}, axes, keepdims);                           \
  }
HEDDLE_REDUCTION_METHOD(sum)
HEDDLE_REDUCTION_METHOD(prod)
HEDDLE_REDUCTION_METHOD(min)
HEDDLE_REDUCTION_METHOD(max)
HEDDLE_REDUCTION_METHOD(mean)
HEDDLE_REDUCTION_METHOD(any)
HEDDLE_REDUCTION_METHOD(all)
HEDDLE_REDUCTION_METHOD(argmin)
HEDDLE_REDUCTION_METHOD(argmax)
#undef HEDDLE_REDUCTION_METHOD

Array Array::var(const Axes& axes, double correction, bool keepdims, SourceLocation where) const {
  return heddle::var({*this, where}, axes, correction, keepdims);
}
Array Array::std(const Axes& axes, double correction, bool keepdims, SourceLocation where) const {
  return heddle::std({*this, where}, axes, correction, keepdims);
}
Array Array::clip(const Operand& low, const Operand& high) const {
  return heddle::clip({*this, low.where()}, low, high);
}
Array Array::round(int decimals, SourceLocation where) const {
  return heddle::round({*this, where}, decimals);
}
Array Array::dot(const Operand& other) const { return heddle::dot({*this, other.where()}, other); }
Array Array::real(SourceLocation where) const { return heddle::real({*this, where}); }
Array Array::imag(SourceLocation where) const { return heddle::imag({*this, where}); }
Array Array::conj(SourceLocation where) const { return heddle::conj({*this, where}); }

#define HEDDLE_IN_PLACE(symbol, function)                                                      \
  Array& Array::operator symbol(const Operand & other) {                                       \
    const SourceLocation where = other.where();                                                \
    return *this = frontend::in_place(#symbol, *this, function({*this, where}, other), where); \
  }
HEDDLE_IN_PLACE(+=, add)
HEDDLE_IN_PLACE(-=, subtract)
HEDDLE_IN_PLACE(*=, multiply)
HEDDLE_IN_PLACE(/=, divide)
HEDDLE_IN_PLACE(%=, remainder)
HEDDLE_IN_PLACE(&=, bitwise_and)
HEDDLE_IN_PLACE(|=, bitwise_or)
HEDDLE_IN_PLACE(^=, bitwise_xor)
HEDDLE_IN_PLACE(<<=, left_shift)
HEDDLE_IN_PLACE(>>=, right_shift)
#undef HEDDLE_IN_PLACE

}  // namespace heddle
