#include "frontend/sparse/systems.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/elementwise.h"
#include "heddle/indexing.h"
#include "heddle/linear_algebra.h"
#include "heddle/rearranging.h"
#include "heddle/reductions.h"
#include "heddle/take.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/record.h"
#include "frontend/graph/trace.h"

namespace heddle::sparse::linalg {

namespace {

LinearOperator::Product product_of(const Csr& a) {
  // Whether rows are long depends on values: inside a trace they are summed whole.
  const bool known = frontend::Trace::current() == nullptr;
  return [a, pieces = known ? pieces_of(a) : std::nullopt](const Array& x) {
    return pieces ? matmul(a, *pieces, x) : matmul(a, x);
  };
}

using Adjoint = std::function<LinearOperator::Product()>;

Adjoint adjoint_of(const Csr& a) {
  return [a] {
    Csr transposed = to_csr(transpose(a));
    transposed.data = conj(transposed.data);
    return product_of(transposed);
  };
}

Adjoint adjoint_of(const Dia& a) {
  return [a] {
    const std::int64_t width = std::min(a.data.shape()[1], a.shape[1]);
    const Array rows = arange(width) - a.offsets.astype(DType::i64)(_, newaxis);
    const Array inside = (rows >= 0) & (rows < a.shape[0]);
    const Array values = heddle::where(inside, conj(a.data(_, slice(width))), 0);
    const Array places = heddle::where(inside, rows, 0);
    return [=, columns = a.shape[1]](const Array& x) {
      const Array made = sum(values * take(x, places), {0});
      return width == columns ? made : pad(made, {{{0, columns - width}}});
    };
  };
}

Extents extents_of(const Array& a) {
  const Shape shape = a.shape();
  if (shape.size() == 2) return {shape[0], shape[1]};
  throw ShapeError(fmt::format("LinearOperator: a matrix has two axes, not {}", shape.size()));
}

/// A vector of n elements in the dtype of the system. `like` names it in errors.
Array vector_of(std::string_view name, const char* like, const LinearOperator& a, const Array& x,
                DType dtype, const SourceLocation& where) {
  if (x.shape() == Shape{a.shape[0]}) return x.astype(dtype, where);
  throw ShapeError(
      frontend::at(fmt::format("{}: {} must be a vector of {} elements, for a matrix of {} x {}",
                               name, like, a.shape[0], a.shape[0], a.shape[1]),
                   where));
}

DType floating(DType a, DType b) {
  const DType dtype = promote_types(a, b);
  return is_floating(dtype) || is_complex(dtype) ? dtype : DType::f64;
}

}  // namespace

LinearOperator::LinearOperator(const Csr& a)
    : shape(a.shape), matvec(product_of(a)), dtype(a.data.dtype()), adjoint(adjoint_of(a)) {}

LinearOperator::LinearOperator(const Dia& a)
    : shape(a.shape),
      matvec([a](const Array& x) { return matmul(a, x); }),
      dtype(a.data.dtype()),
      adjoint(adjoint_of(a)) {}

LinearOperator::LinearOperator(const Array& a)
    : shape(extents_of(a)),
      matvec([a](const Array& x) { return heddle::matmul(a, x); }),
      dtype(a.dtype()),
      adjoint([a] {
        return [back = conj(a.T())](const Array& x) { return heddle::matmul(back, x); };
      }) {}

LinearOperator::LinearOperator(const Extents& extents, Product product, DType of, Product rmatvec)
    : shape(extents), matvec(std::move(product)), dtype(of), adjoint([back = std::move(rmatvec)] {
        if (!back) throw ValueError("LinearOperator: the operator has no rmatvec");
        return back;
      }) {}

System make_system(std::string_view name, const LinearOperator& a, const Operand& b,
                   const SolverOptions& options) {
  const SourceLocation& where = b.where();
  if (a.shape[0] != a.shape[1]) {
    throw ShapeError(frontend::at(
        fmt::format("{}: a must be square, not {} x {}", name, a.shape[0], a.shape[1]), where));
  }
  if (options.M && options.M->shape != a.shape) {
    throw ShapeError(
        frontend::at(fmt::format("{}: the matrix is {} x {}, but the preconditioner {} x {}", name,
                                 a.shape[0], a.shape[1], options.M->shape[0], options.M->shape[1]),
                     where));
  }
  if (!(options.atol >= 0)) {
    throw ValueError(frontend::at(
        fmt::format("{}: atol is {}, but must not be negative", name, options.atol), where));
  }
  const Array given = frontend::Access::make(frontend::node_of(name, b));
  System made;
  made.dtype = floating(a.dtype, given.dtype());
  made.matvec = a.matvec;
  made.psolve = options.M ? options.M->matvec : [](const Array& x) { return x; };
  made.b = vector_of(name, "b", a, given, made.dtype, where);
  made.x =
      options.x0 ? vector_of(name, "x0", a, *options.x0, made.dtype, where) : zeros_like(made.b);
  made.r = options.x0 ? made.b - a.matvec(made.x) : made.b;
  made.unit = unit_of(made.b, made.r);
  for (Array* each : {&made.b, &made.x, &made.r}) *each = *each / made.unit;
  made.b_norm = length(made.b);
  made.limit = maximum(made.b_norm * options.rtol, options.atol / made.unit);
  made.maxiter = options.maxiter.value_or(10 * a.shape[0]);
  // Without a right side the result is 0, whatever x0 is.
  made.x = heddle::where(made.b_norm == 0, zeros_like(made.b), made.x);
  return made;
}

Array inner(const Array& x, const Array& y) { return sum(conj(x) * y); }

Array nonzero_of(const Array& x) { return heddle::where(x == 0, ones_like(x), x); }

}  // namespace heddle::sparse::linalg
