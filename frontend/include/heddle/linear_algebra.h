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

// Products. Dtypes promote; bool uses "or" as sum and "and" as product. Sums of products become
// matrix products, computed by BLAS or cuBLAS if it supports the dtype. float32 and complex64 use
// matmul_precision() (settings.h), by default IEEE.

struct MatmulOptions {
  /// Precision of the multiplications; by default matmul_precision(). Ignored for dtypes other than
  /// float32 and complex64.
  std::optional<Precision> precision = {};
};

/// numpy.matmul. Leading axes broadcast; a 1-d array is a row on the left and a column on the
/// right. matmul(a, b, {.precision = Precision::tf32}) sets the precision. ShapeError if the inner
/// extents differ or an operand is 0-d.
Array matmul(const Operand& a, const Operand& b);
Array matmul(const Operand& a, const Operand& b, const MatmulOptions& options);
/// numpy.matvec and numpy.vecmat: matrices times vectors, leading axes broadcast. ShapeError as for
/// matmul.
Array matvec(const Operand& a, const Operand& b);
Array vecmat(const Operand& a, const Operand& b);
/// numpy.dot. A product with a 0-d operand is elementwise. ShapeError if the inner extents differ.
Array dot(const Operand& a, const Operand& b);
/// numpy.vdot of the flattened operands. ShapeError if their sizes differ.
Array vdot(const Operand& a, const Operand& b);
/// numpy.vecdot along an axis, counted in each operand before the other axes broadcast.
Array vecdot(const Operand& a, const Operand& b, std::int64_t axis = -1);
/// numpy.inner: sums over the last axes of both operands. ShapeError if their extents differ.
Array inner(const Operand& a, const Operand& b);
/// numpy.outer of the flattened operands.
Array outer(const Operand& a, const Operand& b);
/// numpy.tensordot: sums over pairs of axes, or over the last `axes` axes of a and the first of b.
/// ShapeError if their extents differ; ValueError if the numbers of axes differ or are too large.
Array tensordot(const Operand& a, const Operand& b, const std::vector<std::int64_t>& axes_a,
                const std::vector<std::int64_t>& axes_b);
Array tensordot(const Operand& a, const Operand& b, std::int64_t axes = 2);
/// numpy.kron: the Kronecker product.
Array kron(const Operand& a, const Operand& b);
/// numpy.cross of vectors of 2 or 3 elements along an axis. A vector of 2 elements has a third
/// element 0; for two such vectors, the result is only the third element. Other axes broadcast.
/// ShapeError for other extents.
Array cross(const Operand& a, const Operand& b, std::int64_t axis_a = -1, std::int64_t axis_b = -1,
            std::int64_t axis_c = -1);
/// numpy.einsum: "ij,jk->ik", "...ii", with implicit or explicit output. More than two operands are
/// multiplied in pairs, the smallest results first. ValueError for subscripts that do not parse or
/// do not fit the operands, ShapeError if extents differ.
Array einsum(std::string_view subscripts, Arrays operands,
             SourceLocation where = SourceLocation::current());

}  // namespace heddle
