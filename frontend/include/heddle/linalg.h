#pragma once

#include "heddle/array.h"

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

}  // namespace linalg

}  // namespace heddle
