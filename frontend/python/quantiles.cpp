#include "heddle/quantiles.h"

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/elementwise.h"
#include "heddle/histograms.h"
#include "heddle/manipulation.h"
#include "heddle/reductions.h"

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"

namespace heddle::python {
namespace {

constexpr const char* median_parameters =
    "(a: Array, axis: Axis = None, out: Array | None = None, overwrite_input: bool = False, "
    "keepdims: bool = False) -> Array";
constexpr const char* quantile_parameters =
    "(a: Array, q: Operand, axis: Axis = None, out: Array | None = None, overwrite_input: bool = "
    "False, method: str = \"linear\", keepdims: bool = False, *, weights: Array | None = None) -> "
    "Array";

using Median = Array (*)(const Operand&, const Axes&, bool);
using Quantile = Array (*)(const Operand&, const Operand&, const Axes&, std::string_view, bool,
                           const Array&);

template <Median function>
Array median_of(const Arguments& a) {
  return function(a.operand(0), a.axes(1), a.flag(4));
}
/// Checks, as NumPy does, that q is in [0, most]; only for lists and NumPy arrays, whose elements
/// are known.
void check_shares(const Arguments& a, double most) {
  if (as_array(a[1]) != nullptr || as_scalar(a[1])) return;
  const Operand q = a.operand(1);
  if (is_complex(q.array()->dtype())) return;  // rejected elsewhere
  const Array low = greater_equal(q, {Scalar(0), a.where()});
  const Array high = less_equal(q, {Scalar(most), a.where()});
  const Array inside = logical_and({low, a.where()}, {high, a.where()});
  if (!truth(all({inside, a.where()}), a.where())) {
    raise(PyExc_ValueError, fmt::format("{}: q must be in [0, {}]", a.name(), most));
  }
}

template <Quantile function>
Array quantile_of(const Arguments& a) {
  check_shares(a, a.name().ends_with("percentile") ? 100 : 1);
  return function(a.operand(0), a.operand(1), a.axes(2), a.text(5), a.flag(6), a.optional_array(7));
}

void bind_order_statistics(Functions& functions) {
  const auto text = [](const char* what, const char* example) {
    return std::string(what) +
           " `weights` have the shape of a or of the axis; they need method 'inverted_cdf'. "
           "overwrite_input has no effect. Raises AxisError for an axis out of range, ValueError "
           "for a q out of range or an unknown method.\n\n"
           "Example: " +
           example;
  };
  functions.def(named("median", median_parameters),
                "The median along an axis, of all elements if axis is None: numpy.median. It is "
                "NaN if an element is NaN. overwrite_input has no effect. Raises AxisError.\n\n"
                "Example: hd.median(x, axis=0)",
                [](const Arguments& a) { return median_of<median>(a); });
  functions.def(
      named("nanmedian", median_parameters),
      "The median of the elements that are not NaN: numpy.nanmedian. Raises AxisError.\n\n"
      "Example: hd.nanmedian(x, axis=0)",
      [](const Arguments& a) { return median_of<nanmedian>(a); });
  functions.def(
      named("quantile", quantile_parameters),
      text("The q-th quantiles along an axis, for q in [0, 1], by any of NumPy's methods: "
           "numpy.quantile. If axis is None, of all elements. An array q adds its axes in front.",
           "hd.quantile(x, 0.9, axis=0)"),
      [](const Arguments& a) { return quantile_of<quantile>(a); });
  functions.def(named("nanquantile", quantile_parameters),
                text("Quantiles of the elements that are not NaN: numpy.nanquantile.",
                     "hd.nanquantile(x, 0.9)"),
                [](const Arguments& a) { return quantile_of<nanquantile>(a); });
  functions.def(named("percentile", quantile_parameters),
                text("The q-th percentiles along an axis, for q in [0, 100]: numpy.percentile. "
                     "Like quantile of q / 100.",
                     "hd.percentile(x, hd.asarray([5, 95]))"),
                [](const Arguments& a) { return quantile_of<percentile>(a); });
  functions.def(named("nanpercentile", quantile_parameters),
                text("Percentiles of the elements that are not NaN: numpy.nanpercentile.",
                     "hd.nanpercentile(x, 50)"),
                [](const Arguments& a) { return quantile_of<nanpercentile>(a); });
}

BinRange range_of(const Arguments& a, std::size_t i) {
  if (a.is_none(i)) return {};
  if (!PySequence_Check(a[i].ptr()) || nb::len(a[i]) != 2) a.mistyped(i, "two numbers");
  const auto number = [&](int k) { return nb::cast<double>(a[i][k]); };
  return {{number(0), number(1)}};
}

/// NumPy's `range` argument: one pair or None for each coordinate.
std::vector<BinRange> ranges_of(const Arguments& a, std::size_t i) {
  std::vector<BinRange> result;
  if (a.is_none(i)) return result;
  if (PySequence_Check(a[i].ptr()) == 0) a.mistyped(i, "a sequence of pairs");
  for (nb::handle each : nb::borrow(a[i])) {
    const bool is_pair = !each.is_none() && PySequence_Check(each.ptr()) && nb::len(each) == 2;
    if (!each.is_none() && !is_pair) a.mistyped(i, "a sequence of pairs");
    const auto number = [&](int k) {
      const double value = PyFloat_AsDouble(nb::object(each[k]).ptr());
      if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
      return value;
    };
    result.push_back(is_pair ? BinRange({number(0), number(1)}) : BinRange());
  }
  return result;
}

/// The number of bins, or their edges as an Array or a list.
Bins to_bins(nb::handle value, const SourceLocation& where) {
  if (const ArrayObject* array = as_array(value)) return array->read(where);
  if (is_integer(value)) return to_integer(value);
  return from_python(value, std::nullopt, where);
}

/// Bins for all coordinates, or a list of them.
std::vector<Bins> bins_of(const Arguments& a, std::size_t i) {
  if (is_integer(a[i])) return {a.integer(i)};
  if (!PyTuple_Check(a[i].ptr()) && !PyList_Check(a[i].ptr()))
    a.mistyped(i, "an integer or a list of integers and edges");
  std::vector<Bins> result;
  for (nb::handle each : nb::borrow(a[i])) result.push_back(to_bins(each, a.where()));
  return result;
}

/// Like bins_of. Edges alone apply to both coordinates.
std::vector<Bins> bins_of_two(const Arguments& a, std::size_t i) {
  if (as_array(a[i]) != nullptr) return {a.array(i), a.array(i)};
  std::vector<Bins> bins = bins_of(a, i);
  if (bins.size() <= 2) return bins;
  return std::vector<Bins>(2, from_python(a[i], std::nullopt, a.where()));
}

bool optional_flag(const Arguments& a, std::size_t i) { return !a.is_none(i) && a.flag(i); }

/// The number of bins by one of NumPy's rules, which evaluate the data.
Bins bins_by_rule(const Arguments& a) {
  const nb::object number = nb::module_::import_("heddle._bins").attr("number");
  const std::size_t weights = a.name() == "histogram" ? 4 : 3;
  return to_integer(number(a[1], a[0], a[2], !a.is_none(weights)));
}

/// The histogram by the function's first three parameters.
Histogram histogram_of(const Arguments& a, bool density, const Array& weights) {
  const Bins bins = nb::isinstance<nb::str>(a[1]) ? bins_by_rule(a) : to_bins(a[1], a.where());
  if (const Array* edges = std::get_if<Array>(&bins.value()))
    return histogram(a.operand(0), *edges, density, weights);
  return histogram(a.operand(0), std::get<std::int64_t>(bins.value()), range_of(a, 2), density,
                   weights);
}

void bind_point_histograms(Functions& functions) {
  functions.def(
      "histogram2d(x: Array, y: Array, bins: int | Array | Sequence[int | Array] = 10, range: "
      "Sequence[tuple[float, float] | None] | None = None, density: bool | None = None, weights: "
      "Array | None = None) -> tuple[Array, Array, Array]",
      "The tuple (counts, edges along x, edges along y), with the number of points in each bin of "
      "a grid as float64, or the sums of their weights: numpy.histogram2d. `bins` is the number of "
      "equal-width bins or the edges, for both coordinates or for each. Without a range, waits for "
      "the least and the greatest coordinate. Raises ValueError, and ShapeError for different "
      "lengths.\n\n"
      "Example: hd.histogram2d(x, y, [4, 8])",
      [](const Arguments& a) {
        const PointHistogram found =
            histogram2d(a.operand(0), a.operand(1), bins_of_two(a, 2), ranges_of(a, 3),
                        optional_flag(a, 4), a.optional_array(5));
        return nb::object(
            nb::make_tuple(wrap(found.counts), wrap(found.edges[0]), wrap(found.edges[1])));
      });
  functions.def(
      "histogramdd(sample: Array | Sequence[Array], bins: int | Sequence[int | Array] = 10, "
      "range: Sequence[tuple[float, float] | None] | None = None, density: bool | None = None, "
      "weights: Array | None = None) -> tuple[Array, list[Array]]",
      "The tuple (counts, list of edges along each coordinate), with the number of points in each "
      "bin of a grid as float64, or the sums of their weights: numpy.histogramdd. The points are "
      "the rows of a matrix, or a sequence of one Array for each coordinate. `bins` is the number "
      "of equal-width bins for all coordinates, or a number or the edges for each. Without a "
      "range, waits for the least and the greatest coordinates. Raises ValueError, ShapeError.\n\n"
      "Example: hd.histogramdd(points, (4, 4, 8))",
      [](const Arguments& a) {
        const std::vector<Bins> bins = bins_of(a, 1);
        const auto computed = [&](std::size_t coordinates, const auto& sample,
                                  const auto&... where) {
          // C++ takes one for all from a list, too.
          if (!is_integer(a[1]) && bins.size() != coordinates) {
            raise(PyExc_ValueError,
                  fmt::format("histogramdd: {} bins for {} coordinates", bins.size(), coordinates));
          }
          return histogramdd(sample, bins, ranges_of(a, 2), optional_flag(a, 3),
                             a.optional_array(4), where...);
        };
        const bool is_matrix = as_array(a[0]) != nullptr || is_numpy_array(a[0]);
        const Array matrix = is_matrix ? asarray(a.operand(0)) : Array();
        const std::size_t columns =
            is_matrix && matrix.ndim() == 2 ? static_cast<std::size_t>(matrix.shape(1)) : 1;
        PointHistogram found = is_matrix ? computed(columns, a.operand(0))
                                         : computed(a.arrays(0).size(), a.arrays(0), a.where());
        const nb::list edges(to_result(std::move(found.edges)));
        return nb::object(nb::make_tuple(wrap(found.counts), edges));
      });
}

/// The argument of bincount. An empty list becomes integers, and uint64 becomes int64, whose
/// negative values are rejected.
Array counted(const Arguments& a) {
  const Array& x = a.array(0);
  const bool is_empty_list = as_array(a[0]) == nullptr && !is_numpy_array(a[0]) && x.size() == 0;
  return is_empty_list || x.dtype() == DType::u64 ? astype({x, a.where()}, DType::i64) : x;
}

void bind_histograms(Functions& functions) {
  functions.def(
      "histogram(a: Array, bins: int | str | Array = 10, range: tuple[float, float] | None = None, "
      "density: bool | None = None, weights: Array | None = None) -> tuple[Array, Array]",
      "The tuple (counts, edges), with the number of elements in each bin, or the sums of their "
      "weights: numpy.histogram. `bins` is the number of equal-width bins over the range, the "
      "edges, or a rule that reads the data: 'auto', 'doane', 'fd', 'rice', 'scott', 'sqrt' or "
      "'sturges'. Weights have the shape of a; their sums are bitwise the same in each run. "
      "Without a range, waits for the least and the greatest element. Raises ValueError, and "
      "ShapeError for weights of another shape.\n\n"
      "Example: hd.histogram(x, 20, weights=w)",
      [](const Arguments& a) {
        const Histogram result = histogram_of(a, optional_flag(a, 3), a.optional_array(4));
        return std::pair(result.counts, result.edges);
      });
  functions.def(
      "histogram_bin_edges(a: Array, bins: int | str | Array = 10, range: tuple[float, float] | "
      "None = "
      "None, weights: Array | None = None) -> Array",
      "The edges of the bins that histogram uses for the same arguments: "
      "numpy.histogram_bin_edges. Weights have no effect.\n\n"
      "Example: hd.histogram_bin_edges(x, 20)",
      [](const Arguments& a) { return histogram_of(a, false, {}).edges; });
  functions.def(
      "bincount(x: Array, /, weights: Array | None = None, minlength: int = 0) -> Array",
      "The number of occurrences of 0, 1, 2, ... in x as int64, or the sums of their weights as "
      "float64: numpy.bincount. The sums are bitwise the same in each run. The result has at least "
      "minlength elements. Waits for the greatest element. Raises TraceError inside a trace, "
      "ValueError for negative elements, ShapeError for weights of another shape than x.\n\n"
      "Example: hd.bincount(x, minlength=256)",
      [](const Arguments& a) {
        const Array x = counted(a);
        return bincount({x, a.where()}, a.integer(2), a.optional_array(1));
      });
}

}  // namespace

void bind_quantiles(Functions& functions) {
  bind_order_statistics(functions);
  bind_histograms(functions);
  bind_point_histograms(functions);
}

}  // namespace heddle::python
