#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/elementwise.h"
#include "heddle/fft.h"
#include "heddle/rearranging.h"

#include "frontend/array/promote.h"
#include "frontend/graph/at_location.h"
#include "frontend/graph/axes.h"

namespace heddle::fft {

namespace {

/// numbers / (n d), as float64.
Array frequencies(std::string_view name, const Array& numbers, std::int64_t n, double d,
                  const frontend::AtLocation& here) {
  if (n < 1 || d == 0) {
    throw ValueError(frontend::at(
        fmt::format("{}: {} samples at distance {}; there must be at least 1, and the distance "
                    "must not be 0",
                    name, n, d),
        here.where));
  }
  const double step = 1 / (static_cast<double>(n) * d);
  return multiply(here(numbers), here(Scalar(step)));
}

Array rolled(std::string_view name, const Operand& x, const Axes& axes, bool back) {
  const frontend::NodeRef node = frontend::asarray_node(name, x);
  const std::vector<std::int64_t> along =
      frontend::axes_of(name, axes, frontend::rank_of(node), x.where());
  std::vector<std::int64_t> shifts;
  for (const std::int64_t axis : along) {
    const std::int64_t extent = frontend::constant_extent(name, node, axis, x.where());
    shifts.push_back(back ? -(extent / 2) : extent / 2);
  }
  return roll(x, shifts, Axes(along));
}

}  // namespace

Array fftfreq(std::int64_t n, double d, SourceLocation where) {
  const frontend::AtLocation here(where);
  const std::int64_t half = n < 1 ? 0 : (n + 1) / 2;
  const Array numbers = arange(0, n < 1 ? 0 : n, 1, DType::f64, where);
  const Array wrapped = subtract(here(numbers), here(Scalar(static_cast<double>(n))));
  const Array both =
      heddle::where(here(less(here(numbers), here(Scalar(half)))), here(numbers), here(wrapped));
  return frequencies("fft.fftfreq", both, n, d, here);
}

Array rfftfreq(std::int64_t n, double d, SourceLocation where) {
  const frontend::AtLocation here(where);
  return frequencies("fft.rfftfreq", arange(0, n < 1 ? 0 : n / 2 + 1, 1, DType::f64, where), n, d,
                     here);
}

Array fftshift(const Operand& x, const Axes& axes) {
  return rolled("fft.fftshift", x, axes, false);
}
Array ifftshift(const Operand& x, const Axes& axes) {
  return rolled("fft.ifftshift", x, axes, true);
}

}  // namespace heddle::fft
