#pragma once

#include <cstddef>

#include "ir/types/target.h"

namespace heddle::ir {

/// Approximate rates of a machine, for comparing arithmetic cost with memory traffic.
struct Rates {
  double slots_per_us = 0, bytes_per_us = 0, launch_us = 0;
};

/// The capabilities of a kind of machine. Planning reads these and never tests the kind itself.
struct Capabilities {
  /// Kernels run as blocks of threads that share memory. If false, a kernel runs over a range of
  /// elements or rows, and each thread takes a part of it.
  bool blocks = false;
  /// Sums of a row are added in element order, so one thread should read neighbouring elements in
  /// sequence.
  bool ordered_rows = false;
  /// Stores can bypass the caches.
  bool streaming_stores = false;
  /// Cost of one float16 or bfloat16 operation, in operations.
  int half_operations = 1;
  /// Sorts run as kernels of the program. If false, the runtime sorts.
  bool kernel_sorts = false;
  /// Loops and branches can be nodes of a captured graph, on whose conditions a kernel decides.
  bool graph_conditions = false;
  /// Dot products and outer products are faster as kernels than as library calls.
  bool kernel_dots = false;
  /// So are products of a matrix and a vector.
  bool kernel_matvecs = false;
  /// The library multiplies float16 and bfloat16 matrices.
  bool gemm_halves = false;
  /// It can also store the products of such matrices as float32.
  bool gemm_widens = false;
  /// The library can apply an epilogue to a product: bias, activation, residual.
  bool gemm_epilogues = false;
  /// Calls of singular values and eigenvalues take matrices of any shape, and handle elements that
  /// are not finite and values that do not converge. If false, lowering does.
  bool checked_spectra = false;
  /// The library's Cholesky factorisation is faster where its column-major lower triangle is read.
  bool reads_lower_faster = false;
  /// The library's LU factorisation may lose NaN.
  bool lu_loses_nan = false;
  /// Products of a few rows and columns, but of many terms, are faster in parts, which are added.
  bool splits_long_products = false;
  /// A warp group's tensor cores multiply 16-bit matrices in shared memory
  /// (codegen/device/tiles.h).
  bool tile_products = false;
  /// The library multiplies matrices and solves triangular systems of a stack in one call, but no
  /// reflectors.
  bool stacked_systems = false;
  /// So many updates of small parts of a new array are better done in place, even if the array has
  /// to be stored first. Fewer become one kernel that chooses between all their values for each
  /// element, and computes anew what they read of the array.
  std::size_t least_updates = 8;
  Rates rates;
};

const Capabilities& capabilities_of(const Target& target);

}  // namespace heddle::ir
