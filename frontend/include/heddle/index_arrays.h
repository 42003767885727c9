#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "heddle/array.h"

namespace heddle {

// Arrays of indices, all of int64, and what is written at them.

/// numpy.unravel_index: for each axis of a shape, the coordinate of the element that an index
/// counts, in `order` "C" (the last axis runs fastest) or "F". Arrays have the shape of `indices`.
/// A number outside of [0, size) is a ValueError; of an array such an index is that of the nearest
/// element. ValueError for indices into a shape without elements, several into a shape without
/// axes, and another order; DTypeError for indices that are no integers; ShapeError for a negative
/// extent.
std::vector<Array> unravel_index(const Operand& indices, const Shape& shape,
                                 std::string_view order = "C");
/// numpy.ravel_multi_index: the index that counts the element at coordinates, one operand for each
/// axis, which broadcast. What one outside of its axis does is the axis's mode, or that of all:
/// "wrap" and "clip" are NumPy's, and under "raise" a number is a ValueError, and an element of an
/// array counts as the nearest inside. ValueError for coordinates of another number than axes, for
/// a shape without elements, another mode or order; DTypeError for coordinates that are no
/// integers.
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

/// numpy.tril_indices and triu_indices: the rows and the columns of the places on and below, on and
/// above, the k-th diagonal of a matrix, row by row. As many columns as rows unless they are given;
/// a negative number of either is 0.
std::vector<Array> tril_indices(std::int64_t rows, std::int64_t k = 0,
                                std::optional<std::int64_t> columns = {},
                                SourceLocation where = SourceLocation::current());
std::vector<Array> triu_indices(std::int64_t rows, std::int64_t k = 0,
                                std::optional<std::int64_t> columns = {},
                                SourceLocation where = SourceLocation::current());
/// numpy.tril_indices_from and triu_indices_from: those of a matrix. ShapeError for other ranks.
std::vector<Array> tril_indices_from(const Operand& x, std::int64_t k = 0);
std::vector<Array> triu_indices_from(const Operand& x, std::int64_t k = 0);
/// numpy.diag_indices: the places on the main diagonal of an array of `ndim` axes, each n long.
std::vector<Array> diag_indices(std::int64_t n, std::int64_t ndim = 2,
                                SourceLocation where = SourceLocation::current());
/// numpy.diag_indices_from: those of an array. ShapeError for fewer than two axes, and for axes of
/// different length.
std::vector<Array> diag_indices_from(const Operand& x);
/// numpy.ix_: vectors, each along an axis of its own, so that together they index a grid. One of
/// bool is where it holds, which evaluates and waits: TraceError inside a trace. ShapeError for
/// other ranks.
std::vector<Array> ix_(Arrays vectors, SourceLocation where = SourceLocation::current());

/// numpy.fill_diagonal: writes the values, which repeat, on the main diagonal of x, in place; with
/// `wrap` a matrix of more rows than columns has another one behind the last, a row below it.
/// ShapeError for fewer than two axes, and for more than two of different length.
void fill_diagonal(Array& x, const Operand& values, bool wrap = false);

}  // namespace heddle
