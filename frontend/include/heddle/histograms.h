#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "heddle/array.h"

namespace heddle {

/// The ends of the first and the last bin.
using BinRange = std::optional<std::pair<double, double>>;

struct Histogram {
  Array counts;  ///< int64, one a bin; sums of weights, in their dtype; or densities, in float64
  Array edges;   ///< one more: bin i is [edges[i], edges[i + 1]), the last one closed
};
/// numpy.histogram of the flattened array, with bins of equal width over `range`, by default from
/// its least to its greatest element. NaN, and what is outside the range, is in no bin. Without a
/// range this waits for those two elements; inside jit it does not, and edges may be off by a
/// rounding. Edges are in x's dtype, integers' in float64. With `density` the integral over all
/// bins is 1. With weights, of x's shape, each bin has the sum of those of its elements, in their
/// dtype: computed in float64 or complex128, in an order that is the same in every run. ValueError
/// for no bins, and for a range that falls or is not finite; ShapeError for weights of another
/// shape, DTypeError for complex numbers without edges.
Histogram histogram(const Operand& x, std::int64_t bins = 10, BinRange range = {},
                    bool density = false, const Array& weights = {});
/// The same with bins between edges. ShapeError unless edges has one axis and two elements at
/// least; ValueError where they fall, for which this waits for them. Inside jit nothing is waited
/// for, and counts between edges that fall have no meaning.
Histogram histogram(const Operand& x, const Array& edges, bool density = false,
                    const Array& weights = {});
/// numpy.histogram_bin_edges: the edges that histogram would take.
Array histogram_bin_edges(const Operand& x, std::int64_t bins = 10, BinRange range = {});

/// The bins along one axis: how many of equal width, or their edges.
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
  Array counts;              ///< float64, an axis for each of the points' coordinates
  std::vector<Array> edges;  ///< for each of them as Histogram's
};
/// numpy.histogramdd of points, whose coordinates are vectors of one length. `bins` and `ranges`
/// have an entry for each coordinate, or bins one for all, and ranges none; edges between the ends
/// of a range are float64, between the least and the greatest coordinate in the coordinates' dtype.
/// Waiting, what is in no bin, `density` and the order of sums are as histogram's. ValueError for
/// another number of entries, no bins, no coordinates, a range or edges that fall, and a range that
/// is not finite; ShapeError for coordinates or weights of another length,
/// and edges that are no vector or empty; DTypeError for complex numbers.
PointHistogram histogramdd(Arrays coordinates, const std::vector<Bins>& bins = {10},
                           const std::vector<BinRange>& ranges = {}, bool density = false,
                           const Array& weights = {},
                           SourceLocation where = SourceLocation::current());
/// The same of points in the rows of a matrix; a vector is of one coordinate.
PointHistogram histogramdd(const Operand& points, const std::vector<Bins>& bins = {10},
                           const std::vector<BinRange>& ranges = {}, bool density = false,
                           const Array& weights = {});
/// numpy.histogram2d: histogramdd of two coordinates.
PointHistogram histogram2d(const Operand& x, const Operand& y, const std::vector<Bins>& bins = {10},
                           const std::vector<BinRange>& ranges = {}, bool density = false,
                           const Array& weights = {});

/// numpy.bincount: int64, how often each of 0, 1 ... is in x, which has one axis; `minlength`
/// results at least. With weights, of x's shape, float64, the sums of those at each of 0, 1 ...,
/// added in an order that is the same in every run. Evaluates x and waits for its greatest element:
/// TraceError inside jit. DTypeError unless x's integers all fit int64, and for complex weights;
/// ShapeError for more axes and for weights of another shape, ValueError for negative elements or a
/// negative minlength.
Array bincount(const Operand& x, std::int64_t minlength = 0, const Array& weights = {});

}  // namespace heddle
