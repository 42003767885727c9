#include "heddle/windows.h"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/elementwise.h"
#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/array/ordering.h"
#include "frontend/array/promote.h"
#include "frontend/graph/at_location.h"

namespace heddle {

using frontend::Access;
using frontend::AtLocation;
using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::record_constant;
using ir::Op;

namespace {

/// c[0] + c[1] x + c[2] x^2 ..., where c[k] = c[k - 1] * ratio(k) and c[0] = 1.
template <class Ratio>
NodeRef series(const NodeRef& x, int terms, const Ratio& ratio, const OpRecorder& on) {
  std::vector<double> factors = {1};
  for (int k = 1; k < terms; ++k) factors.push_back(factors.back() * ratio(static_cast<double>(k)));
  NodeRef sum = record_constant(x->dtype, factors.back());
  for (int k = terms - 1; k-- > 0;) {
    const NodeRef factor = record_constant(x->dtype, factors[static_cast<std::size_t>(k)]);
    sum = on(Op::add, on(Op::multiply, sum, x), factor);
  }
  return sum;
}

/// Up to 20, the sum of (x^2/4)^k / k!^2, whose terms are all positive. Beyond, the asymptotic
/// series, whose least term is about exp(-2 x) of the sum.
NodeRef bessel(const NodeRef& x, const OpRecorder& on) {
  const auto constant = [&](double value) { return record_constant(x->dtype, value); };
  const NodeRef size = on(Op::absolute, x);
  const NodeRef near = on(Op::minimum, size, constant(20)),
                far = on(Op::maximum, size, constant(20));
  const NodeRef half = on(Op::multiply, near, constant(0.5));
  const NodeRef small =
      series(on(Op::multiply, half, half), 40, [](double k) { return 1 / (k * k); }, on);
  const NodeRef tail = series(
      on(Op::divide, constant(1), far), 30,
      [](double k) { return (2 * k - 1) * (2 * k - 1) / (8 * k); }, on);
  const NodeRef root = on(Op::sqrt, on(Op::multiply, far, constant(2 * std::numbers::pi)));
  const NodeRef large = on(Op::divide, on(Op::multiply, on(Op::exp, far), tail), root);
  return on(Op::select, on(Op::less_equal, size, constant(20)), small, large);
}

/// `count` angles from -pi to pi; for one point, 0.
Array angles(std::int64_t count, const AtLocation& here) {
  if (count < 1) return zeros({0}, DType::f64, here.where);
  if (count == 1) return zeros({1}, DType::f64, here.where);
  const Array place = arange(1 - count, count, 2, DType::f64, here.where);
  const Array turned = multiply(here(place), here(Scalar(std::numbers::pi)));
  return divide(here(turned), here(Scalar(static_cast<double>(count - 1))));
}

/// share * cos(times * angle)
Array cosine(const Array& angle, double times, double share, const AtLocation& here) {
  const Array turned = times == 1 ? angle : multiply(here(angle), here(Scalar(times)));
  return multiply(here(cos(here(turned))), here(Scalar(share)));
}

Array raised_cosine(std::int64_t count, double share, const AtLocation& here) {
  const Array wave = cosine(angles(count, here), 1, share, here);
  return add(here(wave), here(Scalar(1 - share)));
}

}  // namespace

Array i0(const Operand& x) {
  const OpRecorder on{x.where()};
  const NodeRef node = frontend::node_of("i0", x);
  if (is_complex(node->dtype)) {
    throw DTypeError(frontend::at(
        fmt::format("i0({}): takes real numbers", frontend::describe(*node)), on.site));
  }
  const DType dtype = is_floating(node->dtype) ? node->dtype : DType::f64;
  const DType inside = dtype == DType::f64 ? DType::f64 : DType::f32;
  return Access::make(on.cast(bessel(on.cast(node, inside), on), dtype));
}

Array bartlett(std::int64_t count, SourceLocation where) {
  const AtLocation here(where);
  if (count <= 1) return ones({std::max<std::int64_t>(count, 0)}, DType::f64, where);
  const Array place = arange(1 - count, count, 2, DType::f64, where);
  const Array share =
      divide(here(absolute(here(place))), here(Scalar(static_cast<double>(count - 1))));
  return subtract(here(Scalar(1.0)), here(share));
}

Array blackman(std::int64_t count, SourceLocation where) {
  const AtLocation here(where);
  const Array angle = angles(count, here);
  if (count == 1) return ones({1}, DType::f64, where);
  const Array first = add(here(cosine(angle, 1, 0.5, here)), here(Scalar(0.42)));
  return add(here(first), here(cosine(angle, 2, 0.08, here)));
}

Array hamming(std::int64_t count, SourceLocation where) {
  return raised_cosine(count, 0.46, AtLocation(where));
}

Array hanning(std::int64_t count, SourceLocation where) {
  return raised_cosine(count, 0.5, AtLocation(where));
}

Array kaiser(std::int64_t count, const Operand& beta) {
  const SourceLocation where = beta.where();
  const AtLocation here(where);
  if (count <= 1) return ones({std::max<std::int64_t>(count, 0)}, DType::f64, where);
  const double middle = static_cast<double>(count - 1) / 2;
  const Array place = subtract(here(arange(0, count, 1, DType::f64, where)), here(Scalar(middle)));
  const Array share = divide(here(place), here(Scalar(middle)));
  const Array height =
      sqrt(here(subtract(here(Scalar(1.0)), here(multiply(here(share), here(share))))));
  const Array of = i0(here(multiply(here(height), beta)));
  return divide(here(of), here(i0(here(astype(beta, DType::f64)))));
}

}  // namespace heddle
