#include "heddle/indexing.h"

#include <algorithm>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/array/at_once.h"
#include "frontend/array/masked.h"
#include "frontend/array/promote.h"
#include "frontend/array/region.h"
#include "frontend/array/views.h"
#include "frontend/graph/trace.h"
#include "frontend/python/bindings.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/elements.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"
#include "frontend/python/known_bounds.h"

namespace heddle::python {
namespace {

using frontend::Access;

/// Bounds are clipped to the axis, so large values may be saturated.
std::int64_t saturated(nb::handle integer) {
  int overflow = 0;
  const std::int64_t result = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  return overflow == 0 ? result : overflow > 0 ? INT64_MAX : INT64_MIN / 2;
}

std::optional<std::int64_t> bound(nb::handle value) {
  if (value.is_none()) return std::nullopt;
  if (const auto known = known_integer(value)) return known;
  if (PyLong_CheckExact(value.ptr())) return saturated(value);
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid()) throw nb::python_error();
  return saturated(index);
}

/// A bound of a slice in a trace may be an Array of one integer, such as a loop's counter.
SliceBound slice_bound(nb::handle value, const SourceLocation& where) {
  const ArrayObject* const array = as_array(value);
  if (array == nullptr || frontend::Trace::current() == nullptr) return SliceBound(bound(value));
  const Array& element = array->read(where);
  const bool is_index = element.ndim() == 0 && is_integer(element.dtype());
  return is_index ? SliceBound(element) : SliceBound(bound(value));
}

[[noreturn]] void no_subscript(nb::handle key) {
  raise(PyExc_IndexError,
        "an index must be an integer, a slice, None, an ellipsis, an Array of integers or bool, or "
        "a list of them, not " +
            describe_foreign(key));
}

/// Whether a list or one of its nested lists has an element that is not a list.
bool has_elements(nb::handle list) {
  if (!nb::isinstance<nb::list>(list) && !nb::isinstance<nb::tuple>(list)) return true;
  for (nb::handle each : nb::borrow<nb::object>(list)) {
    if (has_elements(each)) return true;
  }
  return false;
}

/// A list or NumPy array as subscript. Its integers are known now, and checked when it is used.
IndexItem to_array_item(nb::handle key, const Array& array, const SourceLocation& where) {
  IndexItem item(array, where);
  if (is_integer(array.dtype())) item.bounds = known_bounds(key);
  return item;
}

IndexItem to_item(nb::handle key, const SourceLocation& where) {
  PyObject* object = key.ptr();
  if (object == Py_None) return {newaxis, where};
  if (object == Py_Ellipsis) return {ellipsis, where};
  if (PySlice_Check(object)) {
    const auto& slice = *reinterpret_cast<const PySliceObject*>(object);
    return {ArraySlice{slice_bound(slice.start, where), slice_bound(slice.stop, where),
                       bound(slice.step)},
            where};
  }
  if (const ArrayObject* array = as_array(key)) {
    const auto known = frontend::Trace::current() == nullptr ? known_integer(key) : std::nullopt;
    if (known) return IndexItem(*known, where);
    return {array->read(where), where};
  }
  if (PyBool_Check(object)) return {heddle::array(object == Py_True, where), where};
  if (nb::isinstance<nb::list>(key)) {
    const bool empty = !has_elements(key);  // lists without elements have integer dtype
    const auto dtype = empty ? std::optional(DType::i64) : std::nullopt;
    return to_array_item(key, from_python(key, dtype, where), where);
  }
  if (is_numpy_array(key)) return to_array_item(key, *numpy_operand(key, where), where);
  if (is_numpy_scalar(key) && as_dtype(key.attr("dtype")) == DType::boolean)
    return {heddle::array(PyObject_IsTrue(object) == 1, where), where};
  if (PyIndex_Check(object) == 0) no_subscript(key);
  const Py_ssize_t index = PyNumber_AsSsize_t(object, PyExc_IndexError);
  if (index == -1 && PyErr_Occurred() != nullptr) {
    nb::python_error error;
    const bool several = error.matches(PyExc_TypeError) && nb::hasattr(key.type(), "__dlpack__");
    if (several) no_subscript(key);  // a tensor, whose __index__ refuses more than one element
    throw error;
  }
  return {static_cast<std::int64_t>(index), where};
}

std::vector<IndexItem> to_items(nb::handle key, const SourceLocation& where) {
  if (!PyTuple_Check(key.ptr())) return {to_item(key, where)};
  std::vector<IndexItem> items;
  items.reserve(static_cast<std::size_t>(PyTuple_GET_SIZE(key.ptr())));
  for (nb::handle each : nb::borrow<nb::tuple>(key)) items.push_back(to_item(each, where));
  return items;
}

/// True if an array is among the subscripts or their bounds; the result is then a copy, not a view.
bool picks(const std::vector<IndexItem>& items) {
  return std::any_of(items.begin(), items.end(), [](const IndexItem& item) {
    return item.kind == IndexItem::Kind::array || item.start || item.stop;
  });
}

/// True if the subscripts select one element, which NumPy returns as a value, not as a view.
bool is_element(const std::vector<IndexItem>& items, const Array& array) {
  if (static_cast<int>(items.size()) != array.ndim()) return false;
  return std::all_of(items.begin(), items.end(),
                     [](const IndexItem& item) { return item.kind == IndexItem::Kind::integer; });
}

/// A selection that values are written to.
struct Place {
  ArrayObject array;
  ir::Type type;
};

/// The steps that lead from a node's array to a region of it.
std::vector<ViewStep> steps_of(frontend::Region& region, const frontend::NodeRef& node) {
  std::vector<ViewStep> steps;
  const ir::Shape sliced = region.slice.shape;
  const bool reshapes = sliced != region.result;
  steps.reserve((region.whole ? 0 : 1) + (reshapes ? 1 : 0));
  if (!region.whole) steps.push_back({ir::Op::slice, std::move(region.slice), node->shape});
  if (reshapes) {
    steps.push_back({ir::Op::reshape, {}, sliced});
    steps.back().attributes.shape = region.result;
  }
  return steps;
}

/// The elements that subscripts other than arrays select.
Place place_of(const ArrayObject& array, const std::vector<IndexItem>& items,
               const SourceLocation& where) {
  if (array.is_scalar()) {
    ArrayObject place = array.view_of(array.read(where).index(items, where), where);
    const frontend::NodeRef node = Access::node(place.read(where), where);
    return {std::move(place), {node->dtype, node->shape}};
  }
  const frontend::NodeRef node = Access::node(array.read(where), where);
  frontend::Region region = frontend::region_of(node, items, where);
  return {array.view_through(steps_of(region, node), where).value(), {node->dtype, region.result}};
}

/// Writes the value, cast and broadcast.
void write(Place& place, const Operand& value, const SourceLocation& where) {
  const auto& [dtype, shape] = place.type;
  // What needs no cast and no broadcast, write() writes at once.
  const frontend::NodeRef given =
      value.array() == nullptr ? frontend::NodeRef() : Access::raw(*value.array());
  const bool as_it_is = given && given->dtype == dtype && given->shape == shape;
  if (!as_it_is && place.array.write_at_once(value, where)) return;
  const frontend::NodeRef element =
      frontend::fit_rank(frontend::node_of("setitem", value, dtype), shape.size(), where);
  place.array.write(Access::make(frontend::broadcast_to_shape(element, shape, where)), where);
}

/// x[key] += y ends with x[key] = x[key], which needs no write.
bool is_same_place(const ArrayObject& a, const ArrayObject& b) {
  if (&a.base() != &b.base() || a.steps().size() != b.steps().size()) return false;
  for (std::size_t i = 0; i < a.steps().size(); ++i) {
    const ViewStep &x = a.steps()[i], &y = b.steps()[i];
    if (x.op != y.op || !(x.attributes == y.attributes) || x.operand != y.operand) return false;
  }
  return true;
}

/// True for objects whose elements asarray converts: lists, tuples, ranges, NumPy arrays and
/// scalars.
bool is_sequence_of_values(nb::handle value) {
  return nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value) ||
         PyRange_Check(value.ptr()) || is_numpy_array(value) || is_numpy_scalar(value);
}

void write_place(const ArrayObject& array, const std::vector<IndexItem>& items, nb::handle value,
                 const SourceLocation& where) {
  Place place = place_of(array, items, where);
  if (const ArrayObject* source = as_array(value)) {
    if (is_same_place(place.array, *source)) return;
    const Array element = source->read(where);
    return write(place, {element, where}, where);
  }
  if (const auto scalar = as_scalar(value)) return write(place, {*scalar, where}, where);
  if (!is_sequence_of_values(value)) {
    raise(PyExc_TypeError, "setitem: the value must be an Array, a number or a list of them, not " +
                               describe_foreign(value));
  }
  const Array element = from_python(value, array.read(where).dtype(), where);
  write(place, {element, where}, where);
}

bool is_only_mask(const std::vector<IndexItem>& items) {
  return items.size() == 1 && items[0].kind == IndexItem::Kind::array &&
         is_boolean(items[0].array->dtype());
}

/// Writes values to the elements that index arrays select. Returns false if the write has to be
/// recorded.
bool write_at(ArrayObject& array, const std::vector<IndexItem>& items, const Operand& value,
              const SourceLocation& where) {
  Base& base = array.base();
  if (array.is_view() || array.read_only() || base.pinned) return false;
  const frontend::NodeRef values = frontend::node_of("setitem", value, base.value.dtype());
  const frontend::NodeRef written = frontend::with_elements_at(
      base.value, items, values,
      [](const frontend::Node& node) {
        return node.unique() && node.value.buffer.unique() && node.value.buffer->pooled();
      },
      where);
  if (!written) return false;
  base.forget_views();
  Access::assign(base.value, written);
  return true;
}

/// Writes values to what a mask or index arrays select, or returns false.
bool write_picked_at_once(ArrayObject& array, const std::vector<IndexItem>& items, nb::handle value,
                          const SourceLocation& where) {
  if (const ArrayObject* source = as_array(value)) {
    const Array element = source->read(where);
    return is_only_mask(items) ? array.write_where(*items[0].array, element, where)
                               : write_at(array, items, {element, where}, where);
  }
  if (is_only_mask(items)) return false;
  const auto scalar = as_scalar(value);
  return scalar && write_at(array, items, {*scalar, where}, where);
}

void write_picked(ArrayObject& array, const std::vector<IndexItem>& items, nb::handle value,
                  const SourceLocation& where) {
  if (write_picked_at_once(array, items, value, where)) return;
  Array result = array.read(where);
  if (const ArrayObject* source = as_array(value)) {
    result.at(items, where) = Operand(source->read(where), where);
  } else if (const auto scalar = as_scalar(value)) {
    result.at(items, where) = Operand(*scalar, where);
  } else if (is_sequence_of_values(value)) {
    const Array element = from_python(value, array.read(where).dtype(), where);
    result.at(items, where) = Operand(element, where);
  } else {
    raise(PyExc_TypeError, "setitem: the value must be an Array, a number or a list of them, not " +
                               describe_foreign(value));
  }
  array.write(result, where);
}

/// Whether a view of few elements is made without recording a slice.
bool reads_at_once(const ArrayObject& array, const frontend::Region& region,
                   const SourceLocation& where) {
  const Base& base = array.base();
  if (array.is_scalar() || base.pinned || frontend::Trace::current() != nullptr) return false;
  const frontend::NodeRef& node = Access::raw(base.value);
  return node && ir::is_constant(region.result) &&
         ir::element_count(region.result).constant() <= frontend::most_at_once &&
         frontend::computes_at_once(where) && frontend::is_at_hand(*node);
}

}  // namespace

nb::object get_item(ArrayObject& array, nb::handle key, const SourceLocation& where) {
  const auto picked = [](Array result) {
    const bool single = result.ndim() == 0;
    nb::object object = wrap(std::move(result));
    as_array(object)->base().is_element = single;
    return object;
  };
  if (const auto index = element_index(array, key)) {
    if (auto element = read_element(array, *index)) return picked(std::move(*element));
  }
  const std::vector<IndexItem> items = to_items(key, where);
  if (picks(items)) return picked(array.read(where).index(items, where));
  const frontend::NodeRef node = Access::node(array.read(where), where);
  frontend::Region region = frontend::region_of(node, items, where);
  const bool single = is_element(items, array.read(where));
  if (!single && reads_at_once(array, region, where))
    return to_object(array.view_through(steps_of(region, node), where, true).value());
  Array result = Access::make(frontend::sliced(node, region, where));
  if (single) return picked(std::move(result));
  if (array.is_scalar()) return to_object(array.view_of(result, where));
  return to_object(array.view_through(steps_of(region, node), std::move(result), where));
}

void set_item(ArrayObject& array, nb::handle key, nb::handle value, const SourceLocation& where) {
  if (array.is_scalar() && array.base().is_element) {
    raise(
        PyExc_TypeError,
        "setitem: an element that was read is an immutable scalar, not a view; write x[i] = value "
        "to its array, or heddle.array(x[i]) makes a writable array");
  }
  const auto index = element_index(array, key);
  if (index && write_element(array, *index, value, where)) return;
  const std::vector<IndexItem> items = to_items(key, where);
  if (picks(items)) return write_picked(array, items, value, where);
  write_place(array, items, value, where);
}

}  // namespace heddle::python
