#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/control.h"
#include "heddle/creation.h"
#include "heddle/dtype_info.h"
#include "heddle/elementwise.h"
#include "heddle/indexing.h"
#include "heddle/joining.h"
#include "heddle/reductions.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/record.h"
#include "frontend/sparse/systems.h"

// The exponential of a matrix, times vectors, as in heddle/sparse/linalg/_expm.py. A step
// multiplies with exp(t a / steps), by Taylor's series up to this degree. The series has the
// accuracy of double precision if the 1-norm of t a / steps is at most `greatest` (Al-Mohy and
// Higham 2011, table 3.1); for smaller norms it ends earlier.

namespace heddle::sparse::linalg {

namespace {

constexpr std::int64_t degree = 55;
constexpr double greatest = 9.9;

struct Series {
  Array k, term, total, size, done;
};
HEDDLE_STRUCT(Series, k, term, total, size, done)

/// The infinity norm.
Array magnitude(const Array& x) {
  const Array sizes = abs(x);
  return max(x.ndim() == 2 ? sum(sizes, {1}) : sizes);
}

class Exponential {
 public:
  Exponential(const Csr& a, const Operand& b, const SourceLocation& where) : matrix_(a) {
    const std::int64_t n = a.shape[0];
    const Array given = frontend::Access::make(frontend::node_of("expm_multiply", b));
    const Shape shape = given.shape();
    if (a.shape[1] != n || shape.empty() || shape.size() > 2 || shape[0] != n) {
      throw ShapeError(frontend::at(
          fmt::format(
              "expm_multiply: a is {} x {} and b has the shape ({}); a must be square, with "
              "as many rows as b",
              a.shape[0], a.shape[1], fmt::join(shape, ", ")),
          where));
    }
    const DType both = promote_types(a.data.dtype(), given.dtype());
    const bool is_number = is_floating(both) || is_complex(both);
    dtype_ = is_number ? promote_types(both, DType::f32) : DType::f64;
    matrix_.data = a.data.astype(dtype_);
    b_ = given.astype(dtype_);
    const Array diagonal = sparse::diagonal(matrix_);
    mean_ = sum(diagonal) / static_cast<double>(std::max<std::int64_t>(n, 1));
    const Csc columns = to_csc(matrix_);
    const Array sums = segment_sum(abs(columns.data), columns.indptr);
    norm_ = max(sums - abs(diagonal) + abs(diagonal - mean_));
    pieces_ = LinearOperator(matrix_);
  }

  const Array& b() const { return b_; }

  /// exp(t a) x.
  Array operator()(const Array& x, const Array& t) const {
    const Array steps = maximum(ceil(abs(t) * norm_ / greatest), 1);
    const Array factor = exp(t * mean_ / steps).astype(dtype_), scale = t / steps;
    return fori_loop(
        array<std::int64_t>(0), steps.astype(DType::i64),
        [&](const Array&, const Array& y) { return factor * taylor(y, scale); }, x);
  }

 private:
  Array product(const Array& x) const { return pieces_.matvec(x) - mean_ * x; }

  /// exp(scale (a - mean)) x for a small scale.
  Array taylor(const Array& x, const Array& scale) const {
    const double tolerance = finfo(dtype_).eps / 2;
    const auto step = [&](const Series& s) {
      Series made = s;
      made.k = s.k + 1;
      made.term = product(s.term) * (scale / made.k).astype(dtype_);
      made.total = s.total + made.term;
      made.size = magnitude(made.term);
      // Two small terms in a row: one may be small by chance.
      made.done = s.size + made.size <= tolerance * magnitude(made.total);
      return made;
    };
    const Series first{array<std::int64_t>(0), x, x, magnitude(x), array(false)};
    return while_loop([](const Series& s) { return ~s.done & (s.k < degree); }, step, first).total;
  }

  Csr matrix_;
  DType dtype_ = DType::f64;
  Array b_, mean_, norm_;
  LinearOperator pieces_ = LinearOperator({0, 0}, nullptr);
};

}  // namespace

Array expm_multiply(const Csr& a, const Operand& b, double t, SourceLocation where) {
  const Exponential exponential(a, b, where);
  return exponential(exponential.b(), array(t));
}

Array expm_multiply(const Csr& a, const Operand& b, const Times& times, SourceLocation where) {
  if (times.num < 1) {
    throw ValueError(frontend::at(
        fmt::format("expm_multiply: there are {} times; at least one is needed", times.num),
        where));
  }
  const Exponential exponential(a, b, where);
  const Array first = exponential(exponential.b(), array(times.start));
  if (times.num == 1) return first(newaxis, ellipsis);
  const auto gaps = static_cast<double>(times.endpoint ? times.num - 1 : times.num);
  const Array gap = array((times.stop - times.start) / gaps);
  const auto next = [&](const Array& x, const std::tuple<>&) {
    const Array made = exponential(x, gap);
    return std::pair(made, made);
  };
  const Array others = scan(next, first, std::tuple<>(), times.num - 1).second;
  return concatenate({first(newaxis, ellipsis), others});
}

}  // namespace heddle::sparse::linalg
