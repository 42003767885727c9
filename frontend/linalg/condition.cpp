#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "heddle/elementwise.h"
#include "heddle/linalg.h"
#include "heddle/linear_algebra.h"
#include "heddle/manipulation.h"
#include "heddle/reductions.h"
#include "heddle/spectral.h"

#include "frontend/array/access.h"
#include "frontend/graph/at_location.h"
#include "frontend/linalg/matrix_operand.h"

namespace heddle {

using frontend::Access;
using frontend::AtLocation;
using frontend::NodeRef;

namespace {

/// Ignores failures in a scope: what fails is NaN.
class IgnoredFailures {
 public:
  IgnoredFailures() : before_(set_linalg_errors(LinAlgErrors::ignore)) {}
  ~IgnoredFailures() { set_linalg_errors(before_); }
  IgnoredFailures(const IgnoredFailures&) = delete;
  IgnoredFailures& operator=(const IgnoredFailures&) = delete;

 private:
  LinAlgErrors before_;
};

struct Inverse {
  Array scaled;   ///< the inverses times `largest`; not finite for singular matrices
  Array largest;  ///< singular values
};

/// Of square matrices, by their singular values. Inverses of small numbers may not be in range.
Inverse inverse(const Array& matrices, const AtLocation& here) {
  const auto [u, s, vh] = linalg::svd(here(matrices), {.full_matrices = false});
  const auto adjoint = [&](const Array& x) {
    const Array transposed = matrix_transpose(here(x));
    return is_complex(x.dtype()) ? conj(here(transposed)) : transposed;
  };
  const Array largest = max(here(s), -1);
  const Array ratios = divide(here(s), here(expand_dims(here(largest), -1)));
  const Array columns = expand_dims(here(ratios), -1);
  return {matmul(here(adjoint(vh)), here(divide(here(adjoint(u)), here(columns)))), largest};
}

}  // namespace

Array linalg::cond(const Operand& a, const NormOrder& order) {
  const AtLocation here(a);
  const NodeRef node = frontend::inexact_operand("linalg.cond", a);
  frontend::require_matrices("linalg.cond", node, a.where());
  const ir::Dim m = frontend::rows_of(node), n = frontend::columns_of(node);
  if (m == ir::Dim(0) || n == ir::Dim(0)) {
    throw LinAlgError(frontend::at(
        fmt::format("linalg.cond({}): matrices without elements have no condition number",
                    frontend::describe(*node)),
        a.where()));
  }
  const IgnoredFailures scope;
  const Array matrices = Access::make(node);
  const bool by_values = order.name.empty() && std::abs(order.power.value_or(2)) == 2;
  if (!by_values) frontend::require_square("linalg.cond", node, a.where());
  Array found;
  if (by_values) {
    const Array s = svdvals(here(matrices));
    const Array largest = max(here(s), -1), least = min(here(s), -1);
    const bool inverted = order.power == -2.0;
    found = divide(here(inverted ? least : largest), here(inverted ? largest : least));
  } else {
    const auto [scaled, largest] = inverse(matrices, here);
    const Array norm = matrix_norm(here(matrices), false, order);
    // A norm whose squares are out of range says nothing; NaN becomes infinity below.
    const Array known = where(here(equal(here(norm), here(Scalar(0)))),
                              here(Scalar(std::numeric_limits<double>::quiet_NaN())), here(norm));
    const Array norms = divide(here(known), here(largest));
    found = multiply(here(norms), here(matrix_norm(here(scaled), false, order)));
  }
  // NaN is the number of a matrix with NaN; other matrices are singular.
  const Array has_nan = any(here(isnan(here(matrices))), {-2, -1});
  const Array singular = logical_and(here(isnan(here(found))), here(logical_not(here(has_nan))));
  return where(here(singular), here(Scalar(std::numeric_limits<double>::infinity())), here(found));
}

}  // namespace heddle
