#pragma once

#include <cstdint>

#include "heddle/dtype.h"

#include "runtime/libraries/triangular.h"

// LAPACK, which is part of OpenBLAS, for stacks of `batch` matrices of f32, f64, c64 or c128, in
// place. Matrices are in C order; "transposed" means columns first. All functions throw DeviceError
// if the library is missing.

namespace heddle::runtime::lapack {

/// Cholesky factors of `batch` n by n matrices of f32, f64, c64 or c128, in place. Uses and
/// overwrites the lower triangles, or the upper ones if `upper`; the other triangles are unchanged.
/// For each matrix, `infos` gets 0, or the order of its first leading minor that is not positive.
/// Throws DeviceError if the library is missing.
void cholesky(DType dtype, bool upper, std::int64_t n, std::int64_t batch, void* matrices,
              std::int32_t* infos);

/// LU factors of m by n matrices, which are transposed: L below the diagonal, U on and above it.
/// `pivots` gets min(m, n) rows for each matrix, counted from 1: row i was swapped with row
/// pivots[i]. `infos` gets 0, or the order of the first pivot that is 0.
void lu(DType dtype, std::int64_t m, std::int64_t n, std::int64_t batch, void* matrices,
        std::int32_t* pivots, std::int32_t* infos);
/// Replaces each b, n by `columns` and transposed, by the solution x of a x = b, for n by n
/// matrices a, transposed if `transposed`. Overwrites a with its factors, in any order. Where a
/// pivot is 0, `infos` gets its order, and x is undefined.
void solve(DType dtype, bool transposed, std::int64_t n, std::int64_t columns, std::int64_t batch,
           void* a, std::int32_t* pivots, void* b, std::int32_t* infos);

/// QR factors of m by n matrices, which are transposed: R on and above the diagonal, the
/// reflectors' vectors below it. `taus` gets min(m, n) factors for each matrix.
void geqrf(DType dtype, std::int64_t m, std::int64_t n, std::int64_t batch, void* matrices,
           void* taus);
/// Replaces reflectors, m by `columns` and transposed, by the first columns of their product.
void householder_product(DType dtype, std::int64_t m, std::int64_t columns, std::int64_t reflectors,
                         std::int64_t batch, void* matrices, const void* taus);

/// Replaces each b by the solution.
void solve_triangular(const TriangularSystem& system, const void* a, void* b);

}  // namespace heddle::runtime::lapack
