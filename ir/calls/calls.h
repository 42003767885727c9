#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "heddle/precision.h"

#include "ir/types/attributes.h"
#include "ir/types/call.h"

// The registry of call ops. Each op is one file in this folder, which defines one of the functions
// below, and one row in registry.cpp.

namespace heddle::ir {

/// Every call op, in the order of the registry.
std::span<const CallOp* const> call_ops();
/// The call op with this name in the text form; null if there is none.
const CallOp* find_call_op(std::string_view name);
/// Whether the batch axes of the op's operands broadcast, as those of matmul do. Other ops with
/// batch axes take operands whose batch axes are equal.
bool broadcasts_batches(const CallOp& op);
/// Registers an op of a user's kernel or of a test. `op` must live as long as the process. Throws
/// ValueError if the name is taken.
void register_call_op(const CallOp& op);

/// The attributes of a node that calls `op`.
Attributes call_attributes(const CallOp& op, std::initializer_list<NamedAttribute> attributes = {},
                           std::vector<Region> regions = {});

namespace calls {

/// numpy.matmul for operands of rank >= 2; batch axes broadcast. The attribute `precision` applies
/// to f32 and c64.
const CallOp& matmul();
/// numpy.sort along `axis`: ascending, stable, NaN last, -0 equal to +0.
const CallOp& sort();
/// numpy.argsort along `axis`, i64: for each element of the sorted array, its index in the operand.
/// Same order as sort().
const CallOp& argsort();
/// numpy.linalg.cholesky of square matrices, of which it reads the lower triangle, or the upper one
/// if `upper`. Results: the factors, with 0 in the other triangle, and an i32 for each matrix: 0,
/// or the order of its first leading minor that is not positive. In that case the factor is NaN.
const CallOp& cholesky();
/// numpy.fft.fft along the last axis, or with `inverse` numpy.fft.ifft, without scaling. With
/// `root` = r > 0, element k of row j is then multiplied by exp(-2 pi i j k / r), inverse its
/// conjugate; j counts along the axis before the last one. The last extent is a constant.
const CallOp& fft();
/// numpy.fft.rfft along the last axis, of constant extent.
const CallOp& rfft();
/// numpy.fft.irfft along the last axis, without scaling. `length` is the result's last extent.
const CallOp& irfft();
/// numpy.linalg.svd of [..., m, n] matrices. Results: u [..., m, m], the singular values in
/// descending order [..., k] for k = min(m, n), vh [..., n, n], and an i32 for each matrix: 0,
/// positive if the values did not converge, -4 for a matrix with NaN. Without `full_matrices`, u is
/// [..., m, k] and vh [..., k, n]. Results are NaN where the status is not 0, and for a matrix with
/// infinities.
const CallOp& svd();
/// svd() for matrices that are small for a GPU: the first result is the conjugate transpose of u.
/// Only lowering makes it.
const CallOp& svd_jacobi();
/// numpy.linalg.svdvals: the singular values and the statuses of svd().
const CallOp& svdvals();
/// numpy.linalg.eigh of Hermitian matrices, of which it reads the lower triangle, or the upper one
/// if `upper`. Results: the eigenvalues in ascending order [..., n]; [..., n, n] whose row j is the
/// conjugate of eigenvector j; and an i32 for each matrix: 0, or positive if values did not
/// converge. Results are NaN where the status is not 0, and for a matrix that is not finite.
const CallOp& eigh();
/// numpy.linalg.eigvalsh: as eigh() without eigenvectors, but the status of a matrix that is not
/// finite is -4.
const CallOp& eigvalsh();
/// numpy.linalg.eig of matrices that are given transposed: row j is column j of the matrix.
/// Results: the complex eigenvalues [..., n]; [..., n, n] whose row j is eigenvector j, of length
/// 1; and an i32 for each matrix: 0, positive if values did not converge, -4 for a matrix that is
/// not finite. Of a real matrix the rows are real: the eigenvectors of a pair of conjugate values
/// are the sum and the difference of row j and i times row j + 1. The value with the positive
/// imaginary part comes first. Results are NaN where the status is not 0.
const CallOp& eig();
/// numpy.linalg.eigvals: as eig() without eigenvectors.
const CallOp& eigvals();

/// LU factors with partial pivoting, P a = L U, of m by n matrices. The operand is transposed: row
/// j is column j of the matrix. Results: the factors, transposed as the operand, with U on and
/// above the diagonal and L, whose diagonal is 1, below it; pivots [min(m, n)], i32, counted from
/// 1: row i was swapped with row pivots[i]; and an i32 for each matrix: 0, or the order of the
/// first pivot that is 0.
const CallOp& lu();
/// numpy.linalg.solve, a x = b, for square matrices a; if `transposed`, row j of operand 0 is
/// column j of the matrix. Operand 1 is b transposed, [..., k, n]: row j is the j-th right-hand
/// side. Results: x, transposed as b, NaN where a is singular; factors and pivots, which are memory
/// for the solver: their elements are undefined; and an i32 for each matrix: 0, or the order of the
/// first pivot that is 0.
const CallOp& solve();
/// numpy.linalg.slogdet of square matrices. Results: the sign of the determinant, for complex
/// numbers its phase, and the logarithm of its absolute value, a real number; 0 and -infinity for a
/// singular matrix.
const CallOp& slogdet();

/// numpy.linalg.qr(mode="raw"): QR factors of m by n matrices by Householder reflectors. The
/// operand is transposed: row j is column j of the matrix. Results: R on and above the diagonal and
/// the reflectors' vectors below it, transposed as the operand; and their factors tau [min(m, n)].
const CallOp& geqrf();
/// LAPACK's orgqr and ungqr: the first c columns of the product of k reflectors. Operand 0,
/// [..., c, m] with k <= c <= m, holds the reflectors' vectors as geqrf gives them, in its first k
/// rows; the others are ignored. Operand 1 is tau [..., k]. Result: the columns, as rows.
const CallOp& householder_product();
/// scipy.linalg.solve_triangular, op(a) x = b for square matrices a, of which only one triangle is
/// read (the lower one if `lower`), and b [..., n, k]. If `unit`, the diagonal is taken to be 1.
/// op(a) is a, its transpose, or its conjugate transpose, as `transpose` says. A 0 on the diagonal
/// divides.
const CallOp& solve_triangular();
/// For pivots of `lu`, i32 [..., m], the order of the rows, i32 [..., m], counted from 0: row i of
/// L U is row order[i] of the matrix. Where min(m, n) < m, pivot i of the others is i + 1.
const CallOp& permutation_of_pivots();
/// jax.lax.scan: calls its region once for each step, `length` times. Operands: constants, then
/// `carries` values, then `sequences` arrays whose first extent is `length`. The region takes the
/// counter twice (extent_argument of a symbol, and i64), the constants, the carries, and the
/// elements of the sequences for this step. It returns the next carries, and values that are
/// stacked along a new first axis. Results: the last carries, then the stacks. `reverse` counts
/// from the last step down to 0.
const CallOp& scan();
/// jax.lax.while_loop: as long as the first region returns true, the second one makes the next
/// carries. Operands of the call and of both regions: constants, then `carries` values. Results:
/// the carries for which the first region returned false. If it returns an array, which has the
/// shape of every carry, each element takes its own steps: from the first false on, it keeps its
/// values.
const CallOp& while_loop();
/// jax.lax.switch: the results of region operand 0, an i64, clamped to the regions that there are.
/// Each region takes the other operands.
const CallOp& switch_case();
/// A loop that each element of the operands' broadcast shape runs on its own. Operands: constants,
/// then `carries` values. The regions work on scalars, as those of while_loop do; or, with
/// `length`, there is one region, which takes the counter, an i64, first (counting down if
/// `reverse`). Then there may be `sequences` more operands, whose first axis is that of the steps,
/// and more results of the region, which are stacked along a first axis, as those of scan are.
/// Result: number `result` of the carries after the last step and the stacked results. Kernels
/// compute it like an elementwise op; the passes make it from other loops.
const CallOp& element_loop();
/// A user's elementwise function in C++ (frontend/kernels). Operands: its inputs, then, if
/// `initial`, what its outputs hold before it runs. The inputs' elements broadcast; of an input
/// that is "raw" the function reads all. `operation` is text that assigns the outputs, `preamble`
/// text before the function. `types` are names of types in these texts. Result: output `result`.
const CallOp& user_map();
/// The same with one output, an array of any shape of which the function assigns elements itself:
/// for each element of the inputs' broadcast shape it may write to any. If `initial`, the output is
/// first a copy of the last operand, else it is zeros of the broadcast shape. Elements that several
/// calls write in other ways than by atomic operations are undefined.
const CallOp& user_write();

}  // namespace calls

/// The precision of a matmul.
Precision precision_of(const CallData& product);
/// The attributes of a matmul. Matmuls of equal precision share their data.
Attributes matmul_attributes(Precision precision);

}  // namespace heddle::ir
