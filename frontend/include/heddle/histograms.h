#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "heddle/array.h"

namespace heddle {

/// Lower end of the first bin and upper end of the last bin.
using BinRange = std::optional<std::pair<double, double>>;

struct Histogram {
  Array counts;  ///< one per bin: int64; or float64 densities; or sums of weights, in their dtype
  Array edges;   ///< one more than bins: bin i is [edges[i], edges[i + 1]), the last one closed
};
/// numpy.histogram of the flattened array, with bins of equal width over `range`, by default from
/// the least to the greatest element. NaN and elements outside the range are not counted. Without a
/// range, the call waits for the least and greatest element; inside jit it does not wait, and edges
/// may differ by a rounding. Edges have x's dtype, or float64 for integers. With `density` the
/// integral over all bins is 1. With weights, of x's shape, each bin has the sum of the weights of
/// its elements. It has the weights' dtype and is computed in float64 or complex128, in the same
/// order in every run. ValueError for no bins, and for a range that is decreasing or not finite;
/// ShapeError for weights of another shape, DTypeError for complex x.
Histogram histogram(const Operand& x, std::int64_t bins = 10, BinRange range = {},
                    bool density = false, const Array& weights = {});
/// numpy.histogram with given edges. ShapeError unless `edges` is 1-d with at least two elements.
/// ValueError if edges decrease; to check this, the call waits for them. Inside jit it does not
/// wait, and the counts are meaningless if edges decrease.
Histogram histogram(const Operand& x, const Array& edges, bool density = false,
                    const Array& weights = {});
/// numpy.histogram_bin_edges: the edges that histogram uses.
Array histogram_bin_edges(const Operand& x, std::int64_t bins = 10, BinRange range = {});

/// The bins along one axis: the number of bins of equal width, or their edges.
class Bins {
 public:
  // NOLINTBEGIN: histogramdd(points, {4, edges})
  Bins(int count) : value_(std::int64_t{count}) {}
  Bins(std::int64_t count) : value_(count) {}
  Bins(const Array& edges) : value_(edges) {}
  // NOLINTEND
  const std::variant<std::int64_t, Array>& value() const { return value_; }

 private:
  std::variant<std::int64_t, Array> value_;
};
struct PointHistogram {
  Array counts;              ///< float64, one axis for each coordinate
  std::vector<Array> edges;  ///< one array for each coordinate, as Histogram::edges
};
/// numpy.histogramdd of points, given as one 1-d array for each coordinate, all of one length.
/// `bins` has an entry for each coordinate, or one for all; `ranges` has an entry for each
/// coordinate, or none. Edges are float64 if a range is given; else they lie between the least and
/// the greatest coordinate and have the coordinates' dtype. Waiting, uncounted elements, `density`
/// and the order of sums are as in histogram. ValueError for another number of entries, no bins, no
/// coordinates, a decreasing range or edges, or a range that is not finite; ShapeError for
/// coordinates or weights of another length, and for edges that are empty or not 1-d; DTypeError
/// for complex numbers.
PointHistogram histogramdd(Arrays coordinates, const std::vector<Bins>& bins = {10},
                           const std::vector<BinRange>& ranges = {}, bool density = false,
                           const Array& weights = {},
                           SourceLocation where = SourceLocation::current());
/// The same with points as the rows of a matrix; a 1-d array has one coordinate per point.
PointHistogram histogramdd(const Operand& points, const std::vector<Bins>& bins = {10},
                           const std::vector<BinRange>& ranges = {}, bool density = false,
                           const Array& weights = {});
/// numpy.histogram2d: histogramdd of two coordinates.
PointHistogram histogram2d(const Operand& x, const Operand& y, const std::vector<Bins>& bins = {10},
                           const std::vector<BinRange>& ranges = {}, bool density = false,
                           const Array& weights = {});

/// numpy.bincount: int64, the number of times that 0, 1 ... occur in the 1-d x, at least
/// `minlength` counts. With weights, of x's shape: the float64 sums of the weights at each value,
/// added in the same order in every run. Evaluates x and waits for its greatest element: TraceError
/// inside jit. DTypeError if x's dtype does not convert to int64 safely, and for complex weights;
/// ShapeError unless x is 1-d, and for weights of another shape; ValueError for negative elements
/// or a negative minlength.
Array bincount(const Operand& x, std::int64_t minlength = 0, const Array& weights = {});

}  // namespace heddle
