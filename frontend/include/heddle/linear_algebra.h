#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "heddle/array.h"
#include "heddle/precision.h"

namespace heddle {

// Products. dtypes promote; bool combines with "and" and "or". Sums over products are matrix
// products, which BLAS or cuBLAS does where it has the dtype. Those of float32 and complex64 are in
// matmul_precision() (settings.h), IEEE's unless something else is asked for.

struct MatmulOptions {
  /// How exactly elements are multiplied; by default matmul_precision(). Dtypes other than float32
  /// and complex64 ignore it.
  std::optional<Precision> precision = {};
};

/// numpy.matmul: leading axes broadcast, a vector counts as a row on the left and a column on the
/// right: matmul(a, b, {.precision = Precision::tf32}). ShapeError when the inner extents differ or
/// an operand is 0-d.
Array matmul(const Operand& a, const Operand& b);
Array matmul(const Operand& a, const Operand& b, const MatmulOptions& options);
/// numpy.matvec and numpy.vecmat: matrices times vectors, leading axes broadcast. ShapeError as for
/// matmul.
Array matvec(const Operand& a, const Operand& b);
Array vecmat(const Operand& a, const Operand& b);
/// numpy.dot.
Array dot(const Operand& a, const Operand& b);
/// numpy.vdot of the flattened operands. ShapeError when their sizes differ.
Array vdot(const Operand& a, const Operand& b);
/// numpy.vecdot along an axis, of each operand before the others broadcast.
Array vecdot(const Operand& a, const Operand& b, std::int64_t axis = -1);
/// numpy.inner: sums over both last axes. ShapeError when their extents differ.
Array inner(const Operand& a, const Operand& b);
/// numpy.outer of the flattened operands.
Array outer(const Operand& a, const Operand& b);
/// numpy.tensordot: sums over pairs of axes, or over the last axes of a with the first of b.
/// ShapeError when their extents differ, ValueError for unequal numbers of axes or too many.
Array tensordot(const Operand& a, const Operand& b, const std::vector<std::int64_t>& axes_a,
                const std::vector<std::int64_t>& axes_b);
Array tensordot(const Operand& a, const Operand& b, std::int64_t axes = 2);
/// numpy.kron: the array b times each element of a.
Array kron(const Operand& a, const Operand& b);
/// numpy.cross of vectors of 3 elements along an axis, or of 2, for which the third is 0 or the
/// only one of the result; other axes broadcast. ShapeError for other extents.
Array cross(const Operand& a, const Operand& b, std::int64_t axis_a = -1, std::int64_t axis_b = -1,
            std::int64_t axis_c = -1);
/// numpy.einsum: "ij,jk->ik", "...ii", with implied or given output. Several operands are
/// multiplied pair by pair, smallest results first. ValueError for subscripts that do not parse or
/// fit, ShapeError when extents differ.
Array einsum(std::string_view subscripts, Arrays operands,
             SourceLocation where = SourceLocation::current());

}  // namespace heddle
