#include "heddle/sets.h"

#include "heddle/manipulation.h"

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/gil.h"
#include "frontend/python/named_tuple.h"

namespace heddle::python {
namespace {

/// Calls a function that waits for the device, with the GIL released.
template <class Function>
auto waiting(const Function& function) {
  const ReleaseGil release;
  return function();
}

constexpr const char* waits =
    " Evaluates and waits, since the size depends on the data. Raises TraceError inside a "
    "trace.\n\n"
    "Example: ";

std::string text(const char* what, const char* example) {
  return std::string(what) + waits + example;
}

Operand at(const Array& x, const Arguments& a) { return {x, a.where()}; }

/// The values, followed by indices, inverse and counts as requested; a single array is returned
/// directly, else a tuple.
nb::object unique_of(const Arguments& a) {
  const Array x = a.array(0);
  const std::optional<std::int64_t> axis = a.optional_integer(4);
  const bool equal_nan = a.flag(5);
  const bool wants[] = {a.flag(1), a.flag(2), a.flag(3)};
  if (!wants[0] && !wants[1] && !wants[2])
    return wrap(waiting([&] { return unique(at(x, a), equal_nan, axis); }));
  const UniqueAll all = waiting([&] { return unique_all(at(x, a), equal_nan, axis); });
  nb::list parts;
  parts.append(wrap(all.values));
  if (wants[0]) parts.append(wrap(all.indices));
  if (wants[1]) parts.append(wrap(all.inverse_indices));
  if (wants[2]) parts.append(wrap(all.counts));
  return nb::tuple(parts);
}

void bind_unique(Functions& functions) {
  functions.give_variables(true);
  functions.def(
      "unique(ar: Array, return_index: bool = False, return_inverse: bool = False, "
      "return_counts: bool = False, axis: int | None = None, *, equal_nan: bool = True, sorted: "
      "bool = True) -> Array | "
      "tuple[Array, ...]",
      text("The distinct elements, or distinct slices along an axis, sorted for every `sorted`: "
           "numpy.unique. With flags, a tuple that also contains, in this order, the index of each "
           "first occurrence, for each element of ar the index of its value, and the number of "
           "occurrences.",
           "hd.unique(x, return_counts=True)"),
      [](const Arguments& a) { return unique_of(a); });
  functions.def(
      "unique_all(x: Array) -> tuple[Array, Array, Array, Array]",
      text("The named tuple (values, indices, inverse_indices, counts): numpy.unique_all. The "
           "distinct elements, sorted; the index of each first occurrence; for each element the "
           "index of its value; and the number of occurrences. Each NaN is distinct.",
           "hd.unique_all(x).counts"),
      [](const Arguments& a) {
        static const NamedTuple type("UniqueAllResult", "values indices inverse_indices counts");
        const Array x = a.array(0);
        const UniqueAll all = waiting([&] { return unique_all(at(x, a)); });
        return type(wrap(all.values), wrap(all.indices), wrap(all.inverse_indices),
                    wrap(all.counts));
      });
  functions.def("unique_counts(x: Array) -> tuple[Array, Array]",
                text("The named tuple (values, counts), the distinct elements and their numbers of "
                     "occurrences: numpy.unique_counts.",
                     "hd.unique_counts(x).counts"),
                [](const Arguments& a) {
                  static const NamedTuple type("UniqueCountsResult", "values counts");
                  const Array x = a.array(0);
                  const UniqueCounts all = waiting([&] { return unique_counts(at(x, a)); });
                  return type(wrap(all.values), wrap(all.counts));
                });
  functions.def("unique_inverse(x: Array) -> tuple[Array, Array]",
                text("The named tuple (values, inverse_indices), the distinct elements and for "
                     "each element the index of its value: numpy.unique_inverse.",
                     "hd.unique_inverse(x).inverse_indices"),
                [](const Arguments& a) {
                  static const NamedTuple type("UniqueInverseResult", "values inverse_indices");
                  const Array x = a.array(0);
                  const UniqueInverse all = waiting([&] { return unique_inverse(at(x, a)); });
                  return type(wrap(all.values), wrap(all.inverse_indices));
                });
  functions.def("unique_values(x: Array) -> Array",
                text("The distinct elements, sorted: numpy.unique_values.", "hd.unique_values(x)"),
                [](const Arguments& a) {
                  const Array x = a.array(0);
                  return waiting([&] { return unique_values(at(x, a)); });
                });
  functions.give_variables(false);
}

using SetFunction = Array (*)(const Operand&, const Operand&);

template <SetFunction function>
Array of_two(const Arguments& a) {
  const Array x = a.array(0), y = a.array(1);
  return waiting([&] { return function(at(x, a), at(y, a)); });
}

/// Checks the name of NumPy's search method, which does not affect the result.
void check_kind(const Arguments& a) {
  if (a.is_none(4)) return;
  const std::string kind = a.text(4);
  if (kind != "sort" && kind != "table")
    raise(PyExc_ValueError, "isin: kind must be None, 'sort' or 'table', not '" + kind + "'");
  const auto has_table = [](DType dtype) { return is_integer(dtype) || is_boolean(dtype); };
  if (kind == "table" && !(has_table(a.array(0).dtype()) && has_table(a.array(1).dtype())))
    raise(PyExc_ValueError, "isin: kind='table' needs integers or bools");
}

void bind_sets_of_two(Functions& functions) {
  functions.give_variables(true);
  functions.def(
      "isin(element: Operand, test_elements: Operand, assume_unique: bool = False, invert: bool = "
      "False, *, kind: str | None = None) -> Array",
      "True where an element is one of test_elements, or is none of them with `invert`: "
      "numpy.isin. The result does not depend on assume_unique and kind. Raises ValueError for a "
      "kind other than 'sort' and 'table', or for 'table' with numbers that are not integers.\n\n"
      "Example: hd.isin(x, [1, 2])",
      [](const Arguments& a) {
        check_kind(a);
        return isin(a.operand(0), a.operand(1), a.flag(3));
      });
  functions.give_variables(false);
  functions.def("union1d(ar1: Array, ar2: Array) -> Array",
                text("The distinct elements of both arrays together, sorted: numpy.union1d.",
                     "hd.union1d(x, y)"),
                [](const Arguments& a) { return of_two<union1d>(a); });
  functions.def("setdiff1d(ar1: Array, ar2: Array, assume_unique: bool = False) -> Array",
                text("The distinct elements of ar1 that are not in ar2, sorted: numpy.setdiff1d. "
                     "With assume_unique, in the order of ar1 and with repetitions.",
                     "hd.setdiff1d(x, y)"),
                [](const Arguments& a) {
                  const Array x = a.array(0), y = a.array(1);
                  const bool assume_unique = a.flag(2);  // needs the GIL
                  return waiting([&] { return setdiff1d(at(x, a), at(y, a), assume_unique); });
                });
  functions.def(
      "setxor1d(ar1: Array, ar2: Array, assume_unique: bool = False) -> Array",
      text("The distinct elements that are in exactly one of the arrays, sorted: numpy.setxor1d.",
           "hd.setxor1d(x, y)"),
      [](const Arguments& a) { return of_two<setxor1d>(a); });
  functions.def(
      "intersect1d(ar1: Array, ar2: Array, assume_unique: bool = False, return_indices: bool = "
      "False) -> Array | tuple[Array, Array, Array]",
      text("The distinct elements that are in both arrays, sorted: numpy.intersect1d. With "
           "return_indices, a tuple that also contains the indices of their first occurrences in "
           "both arrays.",
           "hd.intersect1d(x, y)"),
      [](const Arguments& a) -> nb::object {
        if (!a.flag(3)) return wrap(of_two<intersect1d>(a));
        const Array x = a.array(0), y = a.array(1);
        const Intersection both = waiting([&] { return intersect1d_indices(at(x, a), at(y, a)); });
        return nb::make_tuple(wrap(both.values), wrap(both.indices_a), wrap(both.indices_b));
      });
}

}  // namespace

void bind_sets(Functions& functions) {
  bind_unique(functions);
  bind_sets_of_two(functions);
}

}  // namespace heddle::python
