#pragma once

#include <cstdint>
#include <optional>

#include "heddle/array.h"

namespace heddle {

/// numpy.identity.
Array identity(std::int64_t n, DType dtype = DType::f64,
               SourceLocation where = SourceLocation::current());
/// numpy.tri: ones on and below the k-th diagonal. If `columns` is -1, the matrix is square.
Array tri(std::int64_t rows, std::int64_t columns = -1, std::int64_t k = 0,
          DType dtype = DType::f64, SourceLocation where = SourceLocation::current());
/// numpy.tril and numpy.triu: matrices with zeros above (below) the k-th diagonal. A 1-d array is
/// repeated as the rows of a square matrix. ShapeError for a 0-d array.
Array tril(const Operand& x, std::int64_t k = 0);
Array triu(const Operand& x, std::int64_t k = 0);
/// numpy.diagonal: the diagonals of the planes of two axes, along a new last axis; a view.
/// ShapeError for fewer than two axes, ValueError if both axes are the same.
Array diagonal(const Operand& x, std::int64_t offset = 0, std::int64_t axis1 = 0,
               std::int64_t axis2 = 1);
/// numpy.diag: the k-th diagonal of a matrix, or a matrix with a 1-d array on its k-th diagonal.
/// ValueError for other arrays.
Array diag(const Operand& x, std::int64_t k = 0);
/// numpy.diagflat: a matrix with the flattened array on its k-th diagonal.
Array diagflat(const Operand& x, std::int64_t k = 0);
/// numpy.trace: sums of the diagonals, accumulated as in sum.
Array trace(const Operand& x, std::int64_t offset = 0, std::int64_t axis1 = 0,
            std::int64_t axis2 = 1, std::optional<DType> dtype = {});
/// numpy.vander: columns are the powers of a 1-d array, from columns - 1 down to 0, or up if
/// `increasing`. If `columns` is -1, the matrix is square. Integers are int64, floats float64.
/// ValueError unless x is 1-d.
Array vander(const Operand& x, std::int64_t columns = -1, bool increasing = false);

}  // namespace heddle
