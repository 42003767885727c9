#include "heddle/sorting.h"

#include "heddle/searching.h"

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/named_tuple.h"

namespace heddle::python {
namespace {

/// Parameters of sort and argsort. Sorts are stable regardless of `kind` and `stable`.
constexpr const char* sort_parameters =
    "(a: Array, axis: int | None = -1, kind: str | None = None, order: None = None, *, descending: "
    "bool = False, stable: bool | None = None) -> Array";

constexpr const char* order =
    " NaN comes after all numbers, or first with `descending`. Equal elements keep their order for "
    "every `kind` and `stable`. axis=None sorts the flattened array. Raises AxisError.\n\n"
    "Example: ";

std::string text(const char* what, const char* example) {
  return std::string(what) + order + example;
}

/// Checks `kind` (NumPy's algorithms, which all give the same result here) and `order` (a field
/// name, which must be None).
void check_sort(const Arguments& a, std::size_t kind, std::size_t order) {
  if (!a.is_none(order)) a.mistyped(order, "None, since no dtype has fields");
  if (a.is_none(kind)) return;
  const std::string name = a.text(kind);
  for (const char* known : {"quicksort", "mergesort", "heapsort", "stable", "introselect"}) {
    if (name == known) return;
  }
  raise(PyExc_ValueError, "unknown kind of sort '" + name +
                              "'; use 'quicksort', 'mergesort', 'heapsort' or 'stable'");
}

/// Partitions by one or several kth. Each call sorts completely, so the last result is valid for
/// all kth.
template <Array (*function)(const Operand&, std::int64_t, const Axes&)>
Array partitioned(const Arguments& a) {
  check_sort(a, 3, 4);
  const std::vector<std::int64_t> kth = a.integers(1);
  if (kth.empty()) return function(a.operand(0), 0, a.axes(2));
  Array result;
  for (const std::int64_t each : kth) result = function(a.operand(0), each, a.axes(2));
  return result;
}

/// The Arrays of a sequence, or the rows of one Array.
std::vector<Array> keys_of(const Arguments& a) {
  if (as_array(a[0]) == nullptr) return a.arrays(0);
  std::vector<Array> rows;
  const Array& all = a.array(0);
  for (std::int64_t i = 0; i < all.shape(0, a.where()); ++i)
    rows.push_back(all.index({IndexItem(i, a.where())}, a.where()));
  return rows;
}

void bind_sorts(Functions& functions) {
  functions.def(
      named("sort", sort_parameters),
      text("A copy with the elements sorted along an axis: numpy.sort.", "hd.sort(x, axis=0)"),
      [](const Arguments& a) {
        check_sort(a, 2, 3);
        return sort(a.operand(0), a.axes(1), a.flag(4));
      });
  functions.def_with_method(
      named("argsort", sort_parameters),
      text("The indices that sort the array along an axis, as int64: numpy.argsort.",
           "hd.argsort(x, descending=True)"),
      [](const Arguments& a) {
        check_sort(a, 2, 3);
        return argsort(a.operand(0), a.axes(1), a.flag(4));
      });
  functions.def("lexsort(keys: Sequence[Array] | Array, axis: int | None = -1) -> Array",
                "The indices that sort by several keys, as int64: numpy.lexsort. The last key is "
                "the primary one; among equal elements the key before it decides, and so on. "
                "Raises ShapeError for keys of different shapes, ValueError for no keys.\n\n"
                "Example: hd.lexsort((second, first))",
                [](const Arguments& a) { return lexsort(keys_of(a), a.axes(1), a.where()); });
  constexpr const char* partition_text =
      " The whole axis is sorted. Raises ValueError for a kth out of range.\n\n"
      "Example: ";
  functions.def(
      "partition(a: Array, kth: int | Sequence[int], axis: int | None = -1, kind: str = "
      "'introselect', order: None = None) -> Array",
      std::string("A copy with element kth in its sorted position along an axis, no element before "
                  "it greater and none after it smaller: numpy.partition.") +
          partition_text + "hd.partition(x, 3)",
      [](const Arguments& a) { return partitioned<partition>(a); });
  functions.def(
      "argpartition(a: Array, kth: int | Sequence[int], axis: int | None = -1, kind: str = "
      "'introselect', order: None = None) -> Array",
      std::string(
          "The indices that partition the array along an axis, as int64: numpy.argpartition.") +
          partition_text + "hd.argpartition(x, 3)",
      [](const Arguments& a) { return partitioned<argpartition>(a); });
  functions.def(
      "topk(x: Array, /, k: int, axis: int | None = -1, *, largest: bool = True) -> "
      "tuple[Array, Array]",
      "The named tuple (values, indices) of the k largest elements along an axis in descending "
      "order, or of the k smallest in ascending order with largest=False. Raises ValueError for a "
      "k greater than the extent.\n\n"
      "Example: hd.topk(x, 5).values",
      [](const Arguments& a) {
        static const NamedTuple type("TopK", "values indices");
        const TopK top = topk(a.operand(0), a.integer(1), a.axes(2), a.flag(3));
        return type(wrap(top.values), wrap(top.indices));
      });
}

void bind_searches(Functions& functions) {
  functions.def(
      "searchsorted(a: Array, v: Operand, side: str = \"left\", sorter: Array | None = None) "
      "-> Array",
      "The index in the sorted array a before which each element of v would be inserted, as int64: "
      "numpy.searchsorted. Equal elements of a come after it, or before it with side='right'. "
      "`sorter` is argsort(a) for an a that is not sorted. Raises ShapeError unless a is 1-d.\n\n"
      "Example: hd.searchsorted(edges, x, side='right')",
      [](const Arguments& a) {
        const Array sorter = a.is_none(3) ? Array() : a.array(3);
        return searchsorted(a.operand(0), a.operand(1), a.text(2), sorter);
      });
  functions.def("digitize(x: Operand, bins: Array, right: bool = False) -> Array",
                "The index of the bin of each element, as int64: numpy.digitize. The edges in "
                "`bins` increase or decrease monotonically.\n\n"
                "Example: hd.digitize(x, hd.asarray([0.0, 1.0, 10.0]))",
                [](const Arguments& a) { return digitize(a.operand(0), a.operand(1), a.flag(2)); });
  functions.def(
      "interp(x: Operand, xp: Array, fp: Array, left: complex | None = None, right: complex | None "
      "= "
      "None, period: float | None = None) -> Array",
      "Values at x by linear interpolation between samples fp at increasing coordinates xp: "
      "numpy.interp. Before the first sample `left`, after the last `right`; by default the first "
      "and the last sample. With a period the samples repeat and may be in any order.\n\n"
      "Raises ShapeError unless xp and fp are 1-d and of equal length.\n\n"
      "Example: hd.interp(x, xp, fp)",
      [](const Arguments& a) {
        return interp(a.operand(0), a.operand(1), a.operand(2), a.optional_scalar(3),
                      a.optional_scalar(4),
                      a.is_none(5) ? std::nullopt : std::optional(a.number(5)));
      });
}

}  // namespace

void bind_sorting(Functions& functions) {
  bind_sorts(functions);
  bind_searches(functions);
}

}  // namespace heddle::python
