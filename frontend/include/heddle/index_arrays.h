#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "heddle/array.h"

namespace heddle {

// Functions that make or use int64 index arrays.

/// numpy.unravel_index: converts flat indices to coordinates, one array for each axis of the shape,
/// each of the shape of `indices`. `order` is "C" (the last axis varies fastest) or "F". A scalar
/// outside of [0, size) is a ValueError; an array element outside is clipped. ValueError also for a
/// shape without elements, for several indices into a shape without axes, and for another order;
/// DTypeError for indices that are not integers; ShapeError for a negative extent.
std::vector<Array> unravel_index(const Operand& indices, const Shape& shape,
                                 std::string_view order = "C");
/// numpy.ravel_multi_index: converts coordinates, one operand for each axis, to flat indices. The
/// operands broadcast. `modes` has one entry for each axis, or one for all, and says how a
/// coordinate outside its axis is treated: "wrap" and "clip" are NumPy's; with "raise", a scalar is
/// a ValueError and an array element is clipped. ValueError also if the number of coordinates is
/// not the number of axes, for a shape without elements, and for another mode or order; DTypeError
/// for coordinates that are not integers.
Array ravel_multi_index(Arrays coordinates, const Shape& shape,
                        const std::vector<std::string_view>& modes = {"raise"},
                        std::string_view order = "C",
                        SourceLocation where = SourceLocation::current());
Array ravel_multi_index(std::span<const Operand> coordinates, const Shape& shape,
                        const std::vector<std::string_view>& modes = {"raise"},
                        std::string_view order = "C",
                        SourceLocation where = SourceLocation::current());
Array ravel_multi_index(std::initializer_list<Operand> coordinates, const Shape& shape,
                        const std::vector<std::string_view>& modes = {"raise"},
                        std::string_view order = "C",
                        SourceLocation where = SourceLocation::current());

/// numpy.tril_indices and triu_indices: row and column indices of the elements on and below (above)
/// the k-th diagonal of a matrix, row by row. The matrix is square unless `columns` is given. A
/// negative number of rows or columns counts as 0. ShapeError for more than 2^31 columns.
std::vector<Array> tril_indices(std::int64_t rows, std::int64_t k = 0,
                                std::optional<std::int64_t> columns = {},
                                SourceLocation where = SourceLocation::current());
std::vector<Array> triu_indices(std::int64_t rows, std::int64_t k = 0,
                                std::optional<std::int64_t> columns = {},
                                SourceLocation where = SourceLocation::current());
/// numpy.tril_indices_from and triu_indices_from, for the shape of x. ShapeError unless x is 2-d.
std::vector<Array> tril_indices_from(const Operand& x, std::int64_t k = 0);
std::vector<Array> triu_indices_from(const Operand& x, std::int64_t k = 0);
/// numpy.diag_indices: indices of the main diagonal of an array with `ndim` axes of extent n.
std::vector<Array> diag_indices(std::int64_t n, std::int64_t ndim = 2,
                                SourceLocation where = SourceLocation::current());
/// numpy.diag_indices_from, for the shape of x. ShapeError for fewer than two axes, and for axes of
/// different extents.
std::vector<Array> diag_indices_from(const Operand& x);
/// numpy.ix_: reshapes 1-d arrays, each along its own axis, so that together they index a grid. A
/// bool array is converted to the indices of its true elements, which evaluates and waits:
/// TraceError inside a trace. ShapeError for an array that is not 1-d.
std::vector<Array> ix_(Arrays vectors, SourceLocation where = SourceLocation::current());

/// numpy.fill_diagonal: writes `values`, repeated as needed, to the main diagonal of x, in place.
/// With `wrap`, in a matrix of more rows than columns, the diagonal starts again one row after its
/// end. ShapeError for fewer than two axes, and for more than two axes of different extents.
void fill_diagonal(Array& x, const Operand& values, bool wrap = false);

}  // namespace heddle
