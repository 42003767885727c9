#pragma once

#include <cstdint>
#include <optional>

#include "heddle/array.h"

namespace heddle {

/// numpy.identity.
Array identity(std::int64_t n, DType dtype = DType::f64,
               SourceLocation where = SourceLocation::current());
/// numpy.tri: ones on and below the k-th diagonal. columns -1: as many as rows.
Array tri(std::int64_t rows, std::int64_t columns = -1, std::int64_t k = 0,
          DType dtype = DType::f64, SourceLocation where = SourceLocation::current());
/// numpy.tril and numpy.triu: matrices with zeros above, below the k-th diagonal. A vector counts
/// as the rows of a square matrix; ShapeError for a 0-d array.
Array tril(const Operand& x, std::int64_t k = 0);
Array triu(const Operand& x, std::int64_t k = 0);
/// numpy.diagonal: the diagonals of the planes of two axes, last in the result; a view. ShapeError
/// for less than two axes, ValueError when both are the same.
Array diagonal(const Operand& x, std::int64_t offset = 0, std::int64_t axis1 = 0,
               std::int64_t axis2 = 1);
/// numpy.diag: the k-th diagonal of a matrix, or a matrix with the vector on it. ValueError for
/// other arrays.
Array diag(const Operand& x, std::int64_t k = 0);
/// numpy.diagflat: the flattened array on the k-th diagonal of a matrix.
Array diagflat(const Operand& x, std::int64_t k = 0);
/// numpy.trace: sums of the diagonals, accumulated as sum does.
Array trace(const Operand& x, std::int64_t offset = 0, std::int64_t axis1 = 0,
            std::int64_t axis2 = 1, std::optional<DType> dtype = {});
/// numpy.vander: powers of a vector as columns, from columns - 1 down to 0, or up when
/// `increasing`. columns -1: as many as rows. Integers are int64, floats float64. ValueError for
/// other arrays than vectors.
Array vander(const Operand& x, std::int64_t columns = -1, bool increasing = false);

}  // namespace heddle
