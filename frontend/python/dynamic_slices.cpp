#include "heddle/dynamic_slices.h"

#include <list>

#include "heddle/joining.h"

#include "frontend/python/bindings.h"

namespace heddle::python {
namespace {

/// Starts, with the arrays among them.
class Starts {
 public:
  explicit Starts(const SourceLocation& where) : where_(where) {}

  /// A sequence of integers and 0-d arrays, or a 1-d array.
  void add_all(const Arguments& a, std::size_t i) {
    if (const ArrayObject* const array = as_array(a[i]);
        array != nullptr && array->read(where_).ndim() == 1) {
      for (const Array& start : a.arrays(i)) add(start);
      return;
    }
    if (PySequence_Check(a[i].ptr()) == 0 || as_array(a[i]) != nullptr)
      a.mistyped(i, "a sequence of integers or 0-d Arrays, one for each axis");
    for (nb::handle each : nb::borrow<nb::object>(a[i])) add_one(a, i, each);
  }
  void add_one(const Arguments& a, std::size_t i, nb::handle value) {
    if (const ArrayObject* const array = as_array(value)) return add(array->read(where_));
    if (const auto scalar = as_scalar(value)) return operands_.push_back({*scalar, where_});
    if (!is_integer(value)) a.mistyped(i, "made of integers or 0-d Arrays");
    operands_.push_back({Scalar(to_integer(value)), where_});
  }

  const std::vector<Operand>& operands() const { return operands_; }

 private:
  void add(const Array& start) { operands_.push_back({arrays_.emplace_back(start), where_}); }

  SourceLocation where_;
  std::list<Array> arrays_;  ///< operands refer to them
  std::vector<Operand> operands_;
};

Starts starts(const Arguments& a, std::size_t i) {
  Starts result(a.where());
  result.add_all(a, i);
  return result;
}

Starts one_start(const Arguments& a, std::size_t i) {
  Starts result(a.where());
  result.add_one(a, i, a[i]);
  return result;
}

}  // namespace

void bind_dynamic_slices(Functions& functions) {
  functions.def(
      "dynamic_slice(operand: Array, start_indices: Sequence[Operand] | Array, slice_sizes: "
      "Sequence[int]) -> Array",
      "The slice of a fixed size that begins at the start indices, which may be computed: "
      "jax.lax.dynamic_slice. Negative ones count from the end; then they are clamped so that the "
      "slice stays inside. Raises ValueError unless each axis has a start and a size that fits, "
      "TypeError for starts that are not integers.",
      [](const Arguments& a) {
        return dynamic_slice(a.operand(0), starts(a, 1).operands(), a.shape(2));
      });
  functions.def(
      "dynamic_slice_in_dim(operand: Array, start_index: Operand, slice_size: int, axis: int = 0) "
      "-> Array",
      "dynamic_slice along one axis; the others stay whole: jax.lax.dynamic_slice_in_dim.",
      [](const Arguments& a) {
        return dynamic_slice_in_dim(a.operand(0), one_start(a, 1).operands()[0], a.integer(2),
                                    a.integer(3));
      });
  functions.def(
      "dynamic_index_in_dim(operand: Array, index: Operand, axis: int = 0, keepdims: bool = True) "
      "-> Array",
      "The element at an index along an axis, which stays with extent 1 if keepdims: "
      "jax.lax.dynamic_index_in_dim. As dynamic_slice.",
      [](const Arguments& a) {
        return dynamic_index_in_dim(a.operand(0), one_start(a, 1).operands()[0], a.integer(2),
                                    a.flag(3));
      });
  functions.def(
      "dynamic_update_slice(operand: Array, update: Operand, start_indices: Sequence[Operand] | "
      "Array) -> Array",
      "The operand, in which `update` replaces the elements from the start indices on: "
      "jax.lax.dynamic_update_slice. Starts are as in dynamic_slice. Raises TypeError for "
      "another dtype, ValueError for an update that does not fit.",
      [](const Arguments& a) {
        return dynamic_update_slice(a.operand(0), a.operand(1), starts(a, 2).operands());
      });
  functions.def(
      "dynamic_update_slice_in_dim(operand: Array, update: Operand, start_index: Operand, axis: "
      "int) -> Array",
      "dynamic_update_slice with a start along one axis, and 0 for the others: "
      "jax.lax.dynamic_update_slice_in_dim.",
      [](const Arguments& a) {
        return dynamic_update_slice_in_dim(a.operand(0), a.operand(1),
                                           one_start(a, 2).operands()[0], a.integer(3));
      });
  functions.def(
      "dynamic_update_index_in_dim(operand: Array, update: Operand, index: Operand, axis: int) -> "
      "Array",
      "The operand with the element at an index along an axis replaced; `update` has the extent 1 "
      "there, or lacks the axis: jax.lax.dynamic_update_index_in_dim.",
      [](const Arguments& a) {
        return dynamic_update_index_in_dim(a.operand(0), a.operand(1),
                                           one_start(a, 2).operands()[0], a.integer(3));
      });
}

}  // namespace heddle::python
