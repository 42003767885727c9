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
    " NaN stands behind all numbers, and first when descending; equal elements keep their order, "
    "whatever `kind` and `stable` say. axis=None sorts the flattened array. Raises AxisError.\n\n"
    "Example: ";

std::string text(const char* what, const char* example) {
  return std::string(what) + order + example;
}

std::string named(const char* name, const char* rest) { return std::string(name) + rest; }

/// Checks `kind` (NumPy's algorithms, which all give the same result here) and `order` (a field
/// name, which must be None).
void check_sort(const Arguments& a, std::size_t kind, std::size_t order) {
  if (!a.is_none(order)) a.mistyped(order, "None, as no dtype here has fields");
  if (a.is_none(kind)) return;
  const std::string name = a.text(kind);
  for (const char* known : {"quicksort", "mergesort", "heapsort", "stable", "introselect"}) {
    if (name == known) return;
  }
  raise(PyExc_ValueError, "there is no kind of sort '" + name +
                              "'; it is 'quicksort', 'mergesort', 'heapsort' or 'stable'");
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
  functions.def(named("sort", sort_parameters),
                text("A sorted copy: numpy.sort.", "hd.sort(x, axis=0)"), [](const Arguments& a) {
                  check_sort(a, 2, 3);
                  return sort(a.operand(0), a.axes(1), a.flag(4));
                });
  functions.def_with_method(
      named("argsort", sort_parameters),
      text("Where each element of the sorted array is, as int64: numpy.argsort.",
           "hd.argsort(x, descending=True)"),
      [](const Arguments& a) {
        check_sort(a, 2, 3);
        return argsort(a.operand(0), a.axes(1), a.flag(4));
      });
  functions.def(
      "lexsort(keys: Sequence[Array] | Array, axis: int | None = -1) -> Array",
      "The order, as int64, by the last key, among equals by the one before, and so on: "
      "numpy.lexsort. Raises ShapeError for keys of different shapes, ValueError for none.\n\n"
      "Example: hd.lexsort((second, first))",
      [](const Arguments& a) { return lexsort(keys_of(a), a.axes(1), a.where()); });
  constexpr const char* partition_text =
      " All of the axis is sorted. Raises ValueError for a kth out of range.\n\nExample: ";
  functions.def(
      "partition(a: Array, kth: int | Sequence[int], axis: int | None = -1, kind: str = "
      "'introselect', order: None = None) -> Array",
      std::string("A copy with element kth where sorting would put it, none greater "
                  "before and none less behind: numpy.partition.") +
          partition_text + "hd.partition(x, 3)",
      [](const Arguments& a) { return partitioned<partition>(a); });
  functions.def(
      "argpartition(a: Array, kth: int | Sequence[int], axis: int | None = -1, kind: str = "
      "'introselect', order: None = None) -> Array",
      std::string("Where the elements of the partition are, as int64: numpy.argpartition.") +
          partition_text + "hd.argpartition(x, 3)",
      [](const Arguments& a) { return partitioned<argpartition>(a); });
  functions.def(
      "topk(x: Array, /, k: int, axis: int | None = -1, *, largest: bool = True) -> "
      "tuple[Array, Array]",
      "The k largest elements along an axis, or the k smallest, in order, as the named tuple "
      "(values, indices). Raises ValueError for a k beyond the axis.\n\nExample: "
      "hd.topk(x, 5).values",
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
      "Where each of v would go into a, which is sorted, or is by sorter, as int64: before its "
      "equals, or behind them for side='right': numpy.searchsorted. Raises ShapeError unless a "
      "has one axis.\n\nExample: hd.searchsorted(edges, x, side='right')",
      [](const Arguments& a) {
        const Array sorter = a.is_none(3) ? Array() : a.array(3);
        return searchsorted(a.operand(0), a.operand(1), a.text(2), sorter);
      });
  functions.def(
      "digitize(x: Operand, bins: Array, right: bool = False) -> Array",
      "The number of the bin, between edges that rise or fall, that each element is in, as int64: "
      "numpy.digitize.\n\nExample: hd.digitize(x, hd.asarray([0.0, 1.0, 10.0]))",
      [](const Arguments& a) { return digitize(a.operand(0), a.operand(1), a.flag(2)); });
  functions.def(
      "interp(x: Operand, xp: Array, fp: Array, left: complex | None = None, right: complex | None "
      "= "
      "None, period: float | None = None) -> Array",
      "Values on the lines through the samples fp at xp, which rise; in front of them left, behind "
      "them right, by default the first and the last sample: numpy.interp. With a period the "
      "samples "
      "repeat, in any order, and nothing is outside.\n\nRaises ShapeError "
      "unless xp and fp are 1-d and of one length.\n\nExample: hd.interp(x, xp, fp)",
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
