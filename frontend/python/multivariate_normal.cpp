#include "heddle/jit.h"
#include "heddle/random.h"

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/random/covariance.h"

namespace heddle::python {

namespace {

/// An Array, or an array-like such as a list.
Array vectors_of(const Arguments& a, std::size_t i) {
  return as_array(a[i]) != nullptr ? a.array(i) : from_python(a[i], std::nullopt, a.where());
}
/// Whether the covariance is to be checked where it is drawn. For check_valid='warn', warns here.
bool checks_covariance(const Arguments& a) {
  const std::string check = a.text(4);
  if (check != "warn" && check != "raise" && check != "ignore")
    raise(PyExc_ValueError, "check_valid must equal 'warn', 'raise', or 'ignore'");
  // A traced covariance has no elements to look at.
  if (check == "ignore" || frontend::tracing()) return false;
  if (check == "raise") return true;
  const Array covariance = vectors_of(a, 2);
  if (covariance.ndim() != 2 || covariance.shape(0) != covariance.shape(1)) return false;
  if (!frontend::is_covariance({covariance, a.where()}, a.number(5)) &&
      PyErr_WarnEx(PyExc_RuntimeWarning, "covariance is not symmetric positive-semidefinite.", 1) !=
          0)
    throw nb::python_error();
  return false;
}

random::CovarianceFactor factor_named(const std::string& name) {
  if (name == "svd") return random::CovarianceFactor::svd;
  if (name == "eigh") return random::CovarianceFactor::eigh;
  if (name == "cholesky") return random::CovarianceFactor::cholesky;
  raise(PyExc_ValueError, "method must be one of {'eigh', 'svd', 'cholesky'}");
}

}  // namespace

void bind_multivariate_normal(Functions& functions, nb::handle owner) {
  functions.def_in(
      owner,
      "multivariate_normal(self, mean: Any, cov: Any, size: int | tuple[int, ...] | None = None, "
      "check_valid: str = 'warn', tol: float = 1e-8, *, method: str = 'svd') -> Array",
      "Vectors from the normal distribution with this mean, of length n, and covariance, n by n, "
      "along a new last axis: numpy.random.Generator.multivariate_normal. `check_valid` says what "
      "to do about a cov that is not symmetric positive semidefinite up to tol: 'warn', 'raise' or "
      "'ignore'; to find out it evaluates and waits, so a traced function ignores it. `method` "
      "factorises cov by 'svd', 'eigh' or 'cholesky'. Raises ShapeError for other extents, "
      "LinAlgError for a cov that has no factor.",
      [](const Arguments& a) {
        const random::MultivariateNormal options{factor_named(a.text(6)), checks_covariance(a),
                                                 a.number(5)};
        return nb::cast<random::Generator&>(a[0]).multivariate_normal(
            {vectors_of(a, 1), a.where()}, {vectors_of(a, 2), a.where()},
            a.is_none(3) ? Shape() : a.shape(3), options);
      });
}

}  // namespace heddle::python
