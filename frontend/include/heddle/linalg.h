#pragma once

#include <cstdint>

#include "heddle/array.h"
#include "heddle/joining.h"

namespace heddle {

/// What happens if a call fails because of its data, such as a matrix that cannot be factorised.
enum class LinAlgErrors {
  raise,  ///< the call is evaluated immediately and throws LinAlgError, as in NumPy
  defer,  ///< the call stays lazy and fuses; the next wait for the device throws
  ignore  ///< the call stays lazy; its results are NaN
};

/// Sets the error mode of the calling thread, `raise` at the start. Returns the previous mode. In a
/// traced function `raise` acts as `defer`. `ignore` is part of the signature: a function called
/// under it is traced again.
///
/// A wait means: reading an array's elements, copying or exporting it, or synchronize(), by the
/// thread that made the call. Another thread throws when it reads a result of a traced function.
/// Lowered and saved programs, and calls captured into a CUDA graph, do not throw: their failed
/// results are NaN.
LinAlgErrors set_linalg_errors(LinAlgErrors errors);

namespace linalg {

struct CholeskyOptions {
  bool upper = false;  ///< factor U of U^H U, from the upper triangles; by default L of L L^H
};

/// numpy.linalg.cholesky: the Cholesky factors of Hermitian positive definite matrices, [..., n, n]
/// of float32, float64, complex64 or complex128; bool and integers are cast to float64. Only the
/// lower triangle is read (with `upper`, the upper one); the result's other triangle is 0. Computed
/// by LAPACK or cuSOLVER. ShapeError unless the matrices are square, DTypeError for other dtypes.
/// LinAlgError names the first matrix that is not positive definite.
Array cholesky(const Operand& a, const CholeskyOptions& options = {});

/// numpy.linalg.solve: the x of a x = b, for square matrices a, [..., n, n], and b, a vector [n] or
/// matrices [..., n, k]; batch axes broadcast. float32, float64, complex64 or complex128; bool and
/// integers are cast to float64. Computed by LU factors, by LAPACK or cuSOLVER. ShapeError for
/// other shapes, DTypeError for float16 and bfloat16. LinAlgError names the first singular matrix.
Array solve(const Operand& a, const Operand& b);
/// numpy.linalg.inv: the inverses of square matrices. Dtypes and errors as solve.
Array inv(const Operand& a);

/// The results of slogdet: the determinant is sign * exp(logabsdet).
struct SignAndLogarithm {
  Array sign;       ///< -1, 0 or 1; a complex number of absolute value 1, or 0
  Array logabsdet;  ///< real; -inf for a singular matrix
};
/// numpy.linalg.slogdet: signs and logarithms of the determinants of square matrices, [..., n, n].
/// Singular matrices are no error. ShapeError, DTypeError as solve.
SignAndLogarithm slogdet(const Operand& a);
/// numpy.linalg.det: the determinants of square matrices; 0 for singular ones. ShapeError,
/// DTypeError as solve.
Array det(const Operand& a);

enum class QrMode {
  reduced,   ///< a = q r, with q [..., m, k] and r [..., k, n], where k = min(m, n)
  complete,  ///< the same with k = m
  r,         ///< only r of `reduced`; q holds no value
  raw  ///< Householder reflectors: q is [..., n, m], of which row j is column j of r above the
       ///< vector of reflector j, and r is their factors [..., min(m, n)]
};
/// The results of qr: the columns of q are orthonormal, r is upper triangular.
struct QrFactors {
  Array q, r;
};
/// numpy.linalg.qr of matrices, [..., m, n]. Dtypes as solve. ShapeError for fewer than two axes,
/// DTypeError as solve.
QrFactors qr(const Operand& a, QrMode mode = QrMode::reduced);

/// numpy.linalg.matrix_power of square matrices; of the inverses if n < 0. Integers stay integers
/// if n >= 0. ShapeError unless the matrices are square; errors as inv if n < 0.
Array matrix_power(const Operand& a, std::int64_t n);
/// numpy.linalg.tensorsolve: the x of tensordot(a, x, x.ndim) = b. `axes` of a are moved to the end
/// first. ShapeError unless the axes of b have as many elements as the others; LinAlgError as
/// solve.
Array tensorsolve(const Operand& a, const Operand& b, const Axes& axes = {});
/// numpy.linalg.tensorinv, the inverse of tensordot(a, b, ind). ValueError unless ind is positive,
/// ShapeError unless the first `ind` axes have as many elements as the others.
Array tensorinv(const Operand& a, std::int64_t ind = 2);
/// numpy.linalg.multi_dot: the product of a chain of matrices, in the order with the fewest
/// multiplications. The first and the last may be vectors. ValueError for fewer than two arrays,
/// ShapeError for other shapes.
Array multi_dot(Arrays arrays, SourceLocation where = SourceLocation::current());

enum class Transposed { no, yes, conjugate };
struct TriangularOptions {
  bool lower = false;          ///< read the lower triangle; by default the upper one
  bool unit_diagonal = false;  ///< take the diagonal to be 1
  Transposed transposed = Transposed::no;
};
/// scipy.linalg.solve_triangular: the x of a x = b, or of the (conjugate) transpose of a, for
/// triangular matrices a, [..., n, n], and b as for solve. Errors as solve; LinAlgError for a 0 on
/// the diagonal.
Array solve_triangular(const Operand& a, const Operand& b, const TriangularOptions& options = {});

struct LuFactors {
  Array lu;      ///< [..., m, n]: U on and above the diagonal, L, whose diagonal is 1, below it
  Array pivots;  ///< i32 [..., min(m, n)]: row i was swapped with row pivots[i]
};
/// scipy.linalg.lu_factor of matrices, [..., m, n]. Singular matrices are no error. Dtypes as
/// solve.
LuFactors lu_factor(const Operand& a);
/// The order of the rows, i32 [..., m], that the pivots of lu_factor stand for: a[order] = L U.
/// `rows` is m, if that is more than the number of pivots.
Array permutation_of_pivots(const Operand& pivots, std::int64_t rows = 0);

}  // namespace linalg

}  // namespace heddle
