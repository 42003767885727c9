#include "heddle/spectral.h"

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/gil.h"
#include "frontend/python/named_tuple.h"

namespace heddle::python {

namespace {

/// Calls a function that may wait for the device, with the GIL released. `of` gets operand 0.
template <class Of>
auto waiting(const Arguments& a, const Of& of) {
  const Array x = a.array(0);
  const ReleaseGil release;
  return of(Operand(x, a.where()));
}

bool upper_of(const Arguments& a) {
  const std::string triangle = a.text(1);
  if (triangle != "L" && triangle != "l" && triangle != "U" && triangle != "u")
    raise(PyExc_ValueError, a.name() + ": UPLO must be 'L' or 'U', not '" + triangle + "'");
  return triangle == "U" || triangle == "u";
}

/// None, a number or a name.
linalg::NormOrder order_of(const Arguments& a, std::size_t i) {
  if (a.is_none(i)) return {};
  if (PyUnicode_Check(a[i].ptr()) != 0) return std::string_view(a.text(i));
  return a.number(i);
}

/// The tolerances of ranks: a number or an Array. Without a value for None.
std::optional<Operand> tolerance_of(const Arguments& a, std::size_t i) {
  return a.is_none(i) ? std::nullopt : std::optional(a.operand(i));
}

void bind_singular_values(Functions& functions, nb::module_& module) {
  functions.def_in(
      module,
      "svd(a: Array, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = "
      "False) -> Array | tuple[Array, Array, Array]",
      "The singular value decompositions a = U @ diag(S) @ Vh of matrices of shape [..., m, n], as "
      "the named tuple (U, S, Vh), or only S with compute_uv=False: numpy.linalg.svd. The values "
      "descend. U and Vh are square, or [..., m, k] and [..., k, n] for k = min(m, n) with "
      "full_matrices=False. `hermitian` says that the matrices are Hermitian.\n\n"
      "Raises ShapeError for operands that are not matrices, DTypeError for float16 and bfloat16, "
      "and LinAlgError, which names the first matrix that contains NaN or does not converge. "
      "heddle.errstate sets when LinAlgError is raised.\n\n"
      "Example: hd.linalg.svd(x, full_matrices=False).S",
      [](const Arguments& a) -> nb::object {
        const bool hermitian = a.flag(3), full = a.flag(1);
        if (!a.flag(2)) {
          return wrap(waiting(a, [&](const Operand& x) { return linalg::svdvals(x, hermitian); }));
        }
        static const NamedTuple type("SVDResult", "U S Vh");
        const linalg::SvdResult made = waiting(a, [&](const Operand& x) {
          return linalg::svd(x, {.full_matrices = full, .hermitian = hermitian});
        });
        return type(wrap(made.u), wrap(made.s), wrap(made.vh));
      });
  functions.def_in(
      module, "svdvals(x: Array, /) -> Array",
      "The singular values of matrices in descending order: numpy.linalg.svdvals. Raises errors as "
      "linalg.svd.\n\n"
      "Example: hd.linalg.svdvals(x)",
      [](const Arguments& a) {
        return waiting(a, [](const Operand& x) { return linalg::svdvals(x); });
      });
}

void bind_eigenvalues(Functions& functions, nb::module_& module) {
  functions.def_in(
      module, "eigh(a: Array, UPLO: str = 'L') -> tuple[Array, Array]",
      "The eigenvalues, in ascending order, and the eigenvectors, as columns, of Hermitian "
      "matrices, as the named tuple (eigenvalues, eigenvectors): numpy.linalg.eigh. Only the lower "
      "triangles are read, or the upper ones with UPLO='U'. Results are NaN for a matrix that is "
      "not finite.\n\n"
      "Raises ShapeError for matrices that are not square, DTypeError for float16 and bfloat16, "
      "and LinAlgError for values that do not converge.\n\n"
      "Example: hd.linalg.eigh(x + x.T).eigenvalues",
      [](const Arguments& a) {
        static const NamedTuple type("EighResult", "eigenvalues eigenvectors");
        const bool upper = upper_of(a);
        const linalg::EighResult made =
            waiting(a, [&](const Operand& x) { return linalg::eigh(x, {.upper = upper}); });
        return type(wrap(made.eigenvalues), wrap(made.eigenvectors));
      });
  functions.def_in(
      module, "eigvalsh(a: Array, UPLO: str = 'L') -> Array",
      "The eigenvalues of Hermitian matrices in ascending order: numpy.linalg.eigvalsh. Raises "
      "errors as linalg.eigh, and LinAlgError for a matrix that is not finite.\n\n"
      "Example: hd.linalg.eigvalsh(x + x.T)",
      [](const Arguments& a) {
        const bool upper = upper_of(a);
        return waiting(a, [&](const Operand& x) { return linalg::eigvalsh(x, {.upper = upper}); });
      });
  functions.def_in(
      module, "eig(a: Array) -> tuple[Array, Array]",
      "The eigenvalues and the eigenvectors of length 1, as columns, of square matrices, as the "
      "named tuple (eigenvalues, eigenvectors): numpy.linalg.eig. As in NumPy, both are real if a "
      "is real and all eigenvalues are; to find out it evaluates and waits. In a traced function "
      "they are always complex.\n\n"
      "Raises ShapeError for matrices that are not square, DTypeError for float16 and bfloat16, "
      "and LinAlgError for a matrix that is not finite or does not converge.\n\n"
      "Example: hd.linalg.eig(x).eigenvalues",
      [](const Arguments& a) {
        static const NamedTuple type("EigResult", "eigenvalues eigenvectors");
        const linalg::EigResult made = waiting(a, [](const Operand& x) { return linalg::eig(x); });
        return type(wrap(made.eigenvalues), wrap(made.eigenvectors));
      });
  functions.def_in(
      module, "eigvals(a: Array) -> Array",
      "The eigenvalues of square matrices: numpy.linalg.eigvals. Real or complex, and errors, as "
      "linalg.eig.\n\n"
      "Example: hd.linalg.eigvals(x)",
      [](const Arguments& a) {
        return waiting(a, [](const Operand& x) { return linalg::eigvals(x); });
      });
}

void bind_norms(Functions& functions, nb::module_& module) {
  functions.def_in(
      module,
      "norm(x: Array, ord: float | str | None = None, axis: Axis = None, keepdims: bool = False) "
      "-> Array",
      "The norms of vectors along one axis, or of matrices in two axes: numpy.linalg.norm. `ord` "
      "is any number, inf or -inf for vectors, and 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2 for "
      "matrices. Without axes, of a vector or a matrix; without an order too, of the flattened "
      "array. Raises ValueError for other orders and other numbers of axes, and LinAlgError as "
      "linalg.svd where an order needs singular values.\n\n"
      "Example: hd.linalg.norm(x, axis=-1)",
      [](const Arguments& a) {
        const linalg::NormOrder order = order_of(a, 1);
        const Axes axes = a.reduced_axes(2);
        const bool keepdims = a.flag(3);
        return waiting(a, [&](const Operand& x) { return linalg::norm(x, order, axes, keepdims); });
      });
  functions.def_in(
      module,
      "vector_norm(x: Array, /, *, axis: Axis = None, keepdims: bool = False, ord: float = 2) -> "
      "Array",
      "The norms of vectors: numpy.linalg.vector_norm. Several axes, or all with None, count as "
      "one. `ord` is that of linalg.norm.\n\n"
      "Example: hd.linalg.vector_norm(x, axis=(0, 1))",
      [](const Arguments& a) {
        return linalg::vector_norm(a.operand(0), a.reduced_axes(1), a.flag(2), order_of(a, 3));
      });
  functions.def_in(
      module,
      "matrix_norm(x: Array, /, *, keepdims: bool = False, ord: float | str | None = 'fro') -> "
      "Array",
      "The norms of matrices in the last two axes: numpy.linalg.matrix_norm. `ord` is that of "
      "linalg.norm. Raises ShapeError for fewer than two axes.\n\n"
      "Example: hd.linalg.matrix_norm(x, ord='nuc')",
      [](const Arguments& a) {
        const linalg::NormOrder order = order_of(a, 2);
        const bool keepdims = a.flag(1);
        return waiting(a,
                       [&](const Operand& x) { return linalg::matrix_norm(x, keepdims, order); });
      });
}

void bind_condition(Functions& functions, nb::module_& module) {
  functions.def_in(
      module, "cond(x: Array, p: float | str | None = None) -> Array",
      "The condition numbers of matrices, norm(x, p) * norm(inverse of x, p), by default in the "
      "norm 2: numpy.linalg.cond. inf for singular matrices, NaN for those with NaN. Raises "
      "ShapeError unless the matrices are square for a p other than None, 2 and -2, LinAlgError "
      "for matrices without elements.\n\n"
      "Example: hd.linalg.cond(x)",
      [](const Arguments& a) {
        const linalg::NormOrder order = order_of(a, 1);
        return waiting(a, [&](const Operand& x) { return linalg::cond(x, order); });
      });
}

void require_one_tolerance(const Arguments& a, bool both) {
  if (both) raise(PyExc_ValueError, a.name() + ": only one tolerance can be given");
}

/// Of pinv, whose `rtol` may be left out, which is not the same as None.
linalg::RankOptions inverse_options(const Arguments& a) {
  const bool has_rtol = a[3].ptr() != Py_Ellipsis;
  require_one_tolerance(a, !a.is_none(1) && has_rtol);
  return {tolerance_of(a, has_rtol ? 3 : 1), a.flag(2), has_rtol};
}

void bind_least_squares(Functions& functions, nb::module_& module) {
  functions.def_in(
      module,
      "pinv(a: Array, rcond: float | Array | None = None, hermitian: bool = False, *, rtol: float "
      "| Array | None = ...) -> Array",
      "The Moore-Penrose inverses of matrices: numpy.linalg.pinv. Singular values up to rcond or "
      "rtol times the largest one count as 0; by default 1e-15, for rtol=None max(m, n) times the "
      "dtype's eps. Raises ValueError for both, other errors as linalg.svd.\n\n"
      "Example: hd.linalg.pinv(x) @ y",
      [](const Arguments& a) {
        const linalg::RankOptions options = inverse_options(a);
        return waiting(a, [&](const Operand& x) { return linalg::pinv(x, options); });
      });
  functions.def_in(
      module,
      "matrix_rank(A: Array, tol: float | Array | None = None, hermitian: bool = False, *, rtol: "
      "float | Array | None = None) -> Array",
      "The ranks of matrices, int64: numpy.linalg.matrix_rank. Singular values up to tol, or up to "
      "rtol times the largest one, count as 0; by default rtol is max(m, n) times the dtype's "
      "eps. Raises ValueError for both, other errors as linalg.svd.\n\n"
      "Example: hd.linalg.matrix_rank(x)",
      [](const Arguments& a) {
        require_one_tolerance(a, !a.is_none(1) && !a.is_none(3));
        const linalg::RankOptions options{tolerance_of(a, 3), a.flag(2)};
        const std::optional<Operand> absolute = tolerance_of(a, 1);
        return waiting(a,
                       [&](const Operand& x) { return linalg::matrix_rank(x, options, absolute); });
      });
  functions.def_in(
      module,
      "lstsq(a: Array, b: Array, rcond: float | None = None) -> tuple[Array, Array, Array, Array]",
      "The tuple (x, residuals, rank, s) where x of least norm minimises the length of b - a @ x, "
      "for one matrix a and a vector or matrix b: numpy.linalg.lstsq. Computed in float64 or "
      "complex128. Singular values up to rcond times the largest one count as 0; by default "
      "max(m, n) times the eps of float64. `residuals` "
      "are the squared lengths; it is empty if m <= n or the rank is less than n. For m > n it "
      "evaluates and waits for the rank; in a traced function there are always residuals then. "
      "Raises ShapeError for extents that do not fit, other errors as linalg.svd.\n\n"
      "Example: x, residuals, rank, s = hd.linalg.lstsq(a, b)",
      [](const Arguments& a) -> nb::object {
        const Array b = a.array(1);
        std::optional<double> rcond;
        if (!a.is_none(2)) rcond = a.number(2);
        const linalg::LstsqResult made =
            waiting(a, [&](const Operand& x) { return linalg::lstsq(x, {b, a.where()}, rcond); });
        return nb::make_tuple(wrap(made.x), wrap(made.residuals), wrap(made.rank), wrap(made.s));
      });
}

}  // namespace

void bind_spectral(Functions& functions, nb::module_& module) {
  bind_singular_values(functions, module);
  bind_eigenvalues(functions, module);
  bind_norms(functions, module);
  bind_condition(functions, module);
  bind_least_squares(functions, module);
}

}  // namespace heddle::python
