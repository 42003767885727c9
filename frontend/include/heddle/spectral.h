#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "heddle/array.h"

// Singular values and eigenvalues of stacks of matrices, [..., m, n], and what is computed from
// them. Computed by LAPACK on a CPU, by cuSOLVER on a GPU. float32, float64, complex64 and
// complex128; bool and integers are cast to float64. DTypeError for other dtypes, ShapeError for
// operands that are not matrices. set_linalg_errors() (linalg.h) says when a LinAlgError is thrown.

namespace heddle::linalg {

struct SvdOptions {
  bool full_matrices =
      true;                ///< u is [..., m, m] and vh [..., n, n]; else [..., m, k], [..., k, n]
  bool hermitian = false;  ///< the matrices are Hermitian: computed by eigh
};
struct SvdResult {
  Array u, s, vh;
};
/// numpy.linalg.svd: a = u diag(s) vh with unitary u and vh. The singular values s, [..., k] for
/// k = min(m, n), are real and descend. They are NaN for a matrix that contains an infinity.
/// LinAlgError names the first matrix that contains NaN or whose values did not converge.
SvdResult svd(const Operand& a, const SvdOptions& options = {});
/// numpy.linalg.svdvals: only the singular values. `hermitian` is that of svd.
Array svdvals(const Operand& a, bool hermitian = false);

struct EighOptions {
  bool upper = false;  ///< read the upper triangles; by default, the lower ones
};
struct EighResult {
  Array eigenvalues, eigenvectors;
};
/// numpy.linalg.eigh: eigenvalues, [..., n] and real, in ascending order, and eigenvectors, the
/// columns of [..., n, n], of Hermitian matrices. One triangle is read. The results are NaN for a
/// matrix that is not finite. LinAlgError if values did not converge.
EighResult eigh(const Operand& a, const EighOptions& options = {});
/// numpy.linalg.eigvalsh: only the eigenvalues. LinAlgError also for a matrix that is not finite.
Array eigvalsh(const Operand& a, const EighOptions& options = {});

struct EigResult {
  Array eigenvalues, eigenvectors;
};
/// numpy.linalg.eig: eigenvalues, [..., n], and eigenvectors of length 1, the columns of
/// [..., n, n], of square matrices. For real matrices whose eigenvalues are all real, the results
/// are real, as in NumPy: this is found out by evaluating. Inside a traced function the results are
/// always complex. LinAlgError for a matrix that is not finite or whose values did not converge.
EigResult eig(const Operand& a);
/// numpy.linalg.eigvals: only the eigenvalues.
Array eigvals(const Operand& a);

/// The order of a norm: none, a number p, "fro" or "nuc".
struct NormOrder {
  NormOrder() = default;
  // NOLINTBEGIN: norm(x, 1), norm(x, "fro")
  NormOrder(double p) : power(p) {}
  NormOrder(int p) : power(p) {}
  NormOrder(std::string_view text) : name(text) {}
  NormOrder(const char* text) : name(text) {}
  // NOLINTEND
  std::optional<double> power = {};
  std::string name = {};
};
/// numpy.linalg.norm. Over one axis the norm of vectors: sum(|x|^p)^(1/p); p may be infinite,
/// negative, or 0, which counts the elements that are not 0; by default 2. Over two axes the norm
/// of matrices: 1, -1, 2, -2, inf, -inf, "fro" or "nuc"; by default "fro". Without axes, of a
/// vector or a matrix; without an order too, of the flattened array. ValueError for other orders
/// and other numbers of axes. Integers are computed in float64.
Array norm(const Operand& x, const NormOrder& order = {}, const Axes& axes = {},
           bool keepdims = false);
/// numpy.linalg.vector_norm: over all axes by default; several axes count as one.
Array vector_norm(const Operand& x, const Axes& axes = {}, bool keepdims = false,
                  const NormOrder& order = 2);
/// numpy.linalg.matrix_norm: over the last two axes.
Array matrix_norm(const Operand& x, bool keepdims = false, const NormOrder& order = "fro");

/// numpy.linalg.cond: the condition numbers norm(a) * norm(inverse of a) in the norm of that order,
/// by default 2. Infinite for singular matrices. LinAlgError for matrices without elements.
Array cond(const Operand& a, const NormOrder& order = {});

/// Which singular values count as 0: those up to `tolerance` times the largest one. `tolerance`
/// broadcasts against the stack.
struct RankOptions {
  std::optional<Operand> tolerance = {};
  bool hermitian = false;  ///< the matrices are Hermitian: computed by eigh
  /// The default of pinv is max(m, n) eps, too, as for NumPy's rtol=None.
  bool by_size = false;
};
/// numpy.linalg.pinv: the Moore-Penrose inverses. By default the tolerance is 1e-15.
Array pinv(const Operand& a, const RankOptions& options = {});
/// numpy.linalg.matrix_rank: the number of singular values that do not count as 0, int64. By
/// default the tolerance is max(m, n) eps. With `absolute`, values up to it count as 0 instead. An
/// array of fewer than two axes has rank 1 unless it is 0.
Array matrix_rank(const Operand& a, const RankOptions& options = {},
                  const std::optional<Operand>& absolute = {});

struct LstsqResult {
  Array x, residuals, rank, s;
};
/// numpy.linalg.lstsq: the x of least norm that minimises the length of b - a x, for one matrix a,
/// [m, n], and b, [m] or [m, k]. Computed in float64 or complex128, whose eps counts. Singular
/// values up to `rcond` times the largest one count as 0; by default max(m, n) eps, eps for a
/// negative one. `residuals` are the squared lengths, [1] or [k]; none, [0], if m <= n or the rank
/// is less than n. The rank is found out by evaluating; inside a traced function, only m and n
/// decide whether there are residuals. ShapeError unless the extents fit; LinAlgError as for svd.
LstsqResult lstsq(const Operand& a, const Operand& b, std::optional<double> rcond = {});

}  // namespace heddle::linalg
