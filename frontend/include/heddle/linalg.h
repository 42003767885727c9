#pragma once

#include "heddle/array.h"

namespace heddle {

/// When a call fails on data that it meets: a matrix that cannot be factorised.
enum class LinAlgErrors {
  raise,  ///< it is evaluated where it stands and raises LinAlgError there, as NumPy does
  defer,  ///< it stays lazy and fuses; the next wait for the device raises
  ignore  ///< it stays lazy, and its results are NaN
};

/// What this thread does from here on: `raise` at the start. In a traced function `raise` is
/// `defer`, and a function that is called under `ignore` is traced anew. Returns what was set
/// before.
///
/// A wait is to read an array's elements, to copy or export it, or synchronize(), by the thread
/// that made the call; another thread raises where it reads a result of a traced function. Programs
/// that are lowered or saved, and calls that are captured into a CUDA graph, do not raise: what
/// failed is NaN.
LinAlgErrors set_linalg_errors(LinAlgErrors errors);

namespace linalg {

struct CholeskyOptions {
  bool upper = false;  ///< the factor U of U^H U, from the upper triangles, instead of L of L L^H
};

/// numpy.linalg.cholesky: the Cholesky factors of Hermitian positive definite matrices, [..., n, n]
/// of float32, float64, complex64 or complex128; bool and integers are taken to float64. Only the
/// lower triangle is read, or with `upper` the upper one, and the other one of the result is 0. By
/// LAPACK or cuSOLVER. ShapeError for what is not square, DTypeError for other dtypes, LinAlgError
/// that names the first matrix that is not positive definite.
Array cholesky(const Operand& a, const CholeskyOptions& options = {});

}  // namespace linalg

}  // namespace heddle
