#include "heddle/fft.h"

#include <cmath>

#include <fmt/format.h>

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/fft/last_axis.h"
#include "frontend/graph/axes.h"

namespace heddle::fft {

namespace {

using frontend::LastAxis;
using frontend::NodeRef;

enum class Direction { forward, inverse };

/// The factor of a transform of n elements.
double scale_of(Norm norm, Direction direction, std::int64_t n) {
  if (norm == Norm::ortho) return 1 / std::sqrt(static_cast<double>(n));
  const bool scaled = (norm == Norm::forward) == (direction == Direction::forward);
  return scaled ? 1 / static_cast<double>(n) : 1;
}

void check_length(std::string_view name, std::int64_t n, const SourceLocation& where) {
  if (n < 1) {
    throw ValueError(frontend::at(
        fmt::format("{}: cannot transform {} data points; there must be at least 1", name, n),
        where));
  }
}

/// The length that is asked for, or that of the axis.
std::int64_t length_of(std::string_view name, const LastAxis& rows, const Options& options) {
  const std::int64_t n = options.n ? *options.n : rows.length(name);
  check_length(name, n, rows.where());
  return n;
}

Array complex_to_complex(std::string_view name, const Operand& a, const Options& options,
                         Direction direction) {
  LastAxis rows(name, a, options.axis);
  const std::int64_t n = length_of(name, rows, options);
  rows.to_complex();
  rows.resize(name, n);
  rows.call(ir::calls::fft(), {{"inverse", direction == Direction::inverse}});
  rows.scale(scale_of(options.norm, direction, n));
  return rows.finish();
}

Array real_to_complex(std::string_view name, const Operand& a, const Options& options,
                      Direction direction) {
  LastAxis rows(name, a, options.axis);
  rows.to_real(name);
  const std::int64_t n = length_of(name, rows, options);
  rows.resize(name, n);
  rows.call(ir::calls::rfft(), {});
  if (direction == Direction::inverse) rows.conjugate();
  rows.scale(scale_of(options.norm, direction, n));
  return rows.finish();
}

Array complex_to_real(std::string_view name, const Operand& a, const Options& options,
                      Direction direction) {
  LastAxis rows(name, a, options.axis);
  const std::int64_t n = options.n ? *options.n : 2 * (rows.length(name) - 1);
  check_length(name, n, rows.where());
  const bool half = rows.dtype() == DType::f16;
  rows.to_complex();
  rows.resize(name, n / 2 + 1);
  if (direction == Direction::forward) rows.conjugate();
  rows.call(ir::calls::irfft(), {{"length", n}});
  rows.scale(scale_of(options.norm, direction, n));
  if (half) rows.cast(DType::f16);  // as NumPy
  return rows.finish();
}

}  // namespace

Array fft(const Operand& a, const Options& options) {
  return complex_to_complex("fft.fft", a, options, Direction::forward);
}
Array ifft(const Operand& a, const Options& options) {
  return complex_to_complex("fft.ifft", a, options, Direction::inverse);
}
Array rfft(const Operand& a, const Options& options) {
  return real_to_complex("fft.rfft", a, options, Direction::forward);
}
Array irfft(const Operand& a, const Options& options) {
  return complex_to_real("fft.irfft", a, options, Direction::inverse);
}
Array hfft(const Operand& a, const Options& options) {
  return complex_to_real("fft.hfft", a, options, Direction::forward);
}
Array ihfft(const Operand& a, const Options& options) {
  return real_to_complex("fft.ihfft", a, options, Direction::inverse);
}

namespace {

/// The axes to transform and their lengths, as NumPy completes `s` and `axes`.
struct Plan {
  std::vector<std::int64_t> axes;
  std::vector<std::optional<std::int64_t>> lengths;  ///< nullopt: as the transform gives it

  Plan(std::string_view name, const Operand& a, const AxesOptions& options) {
    const NodeRef node = frontend::asarray_node(name, a);
    const int rank = frontend::rank_of(node);
    if (options.axes) {
      for (const std::int64_t axis : *options.axes)
        axes.push_back(frontend::axis_of(name, axis, rank, a.where()));
    } else {
      const auto count = options.s ? static_cast<std::int64_t>(options.s->size()) : rank;
      for (std::int64_t i = 0; i < count; ++i)
        axes.push_back(frontend::axis_of(name, i - count, rank, a.where()));
    }
    lengths.assign(axes.size(), std::nullopt);
    if (!options.s) return;
    if (options.s->size() != axes.size()) {
      throw ValueError(frontend::at(fmt::format("{}: {} lengths for {} axes; s and axes must have "
                                                "equal numbers",
                                                name, options.s->size(), axes.size()),
                                    a.where()));
    }
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::int64_t given = (*options.s)[i];
      lengths[i] = given != -1 ? given : frontend::constant_extent(name, node, axes[i], a.where());
    }
  }
};

using Along = Array (*)(const Operand&, const Options&);

Array along(const Plan& plan, std::size_t i, Along transform, const Array& a,
            const SourceLocation& where, Norm norm) {
  return transform(Operand(a, where), {plan.lengths[i], plan.axes[i], norm});
}

Array array_of(const Operand& a, std::string_view name) {
  return frontend::Access::make(frontend::asarray_node(name, a));
}

Array over_axes(std::string_view name, const Operand& a, const AxesOptions& options,
                Along transform) {
  const Plan plan(name, a, options);
  Array result = array_of(a, name);
  for (std::size_t i = plan.axes.size(); i-- > 0;)
    result = along(plan, i, transform, result, a.where(), options.norm);
  return result;
}

void require_an_axis(std::string_view name, const Plan& plan, const SourceLocation& where) {
  if (!plan.axes.empty()) return;
  throw IndexError(frontend::at(fmt::format("{}: there is no axis to transform", name), where));
}

AxesOptions last_two(AxesOptions options) {
  if (!options.axes) options.axes = {-2, -1};
  return options;
}

}  // namespace

Array fftn(const Operand& a, const AxesOptions& options) {
  return over_axes("fft.fftn", a, options, fft);
}
Array ifftn(const Operand& a, const AxesOptions& options) {
  return over_axes("fft.ifftn", a, options, ifft);
}

Array rfftn(const Operand& a, const AxesOptions& options) {
  const Plan plan("fft.rfftn", a, options);
  require_an_axis("fft.rfftn", plan, a.where());
  std::size_t i = plan.axes.size() - 1;
  Array result = along(plan, i, rfft, array_of(a, "fft.rfftn"), a.where(), options.norm);
  while (i-- > 0) result = along(plan, i, fft, result, a.where(), options.norm);
  return result;
}

Array irfftn(const Operand& a, const AxesOptions& options) {
  const Plan plan("fft.irfftn", a, options);
  require_an_axis("fft.irfftn", plan, a.where());
  Array result = array_of(a, "fft.irfftn");
  const std::size_t last = plan.axes.size() - 1;
  for (std::size_t i = 0; i < last; ++i)
    result = along(plan, i, ifft, result, a.where(), options.norm);
  return along(plan, last, irfft, result, a.where(), options.norm);
}

Array fft2(const Operand& a, const AxesOptions& options) { return fftn(a, last_two(options)); }
Array ifft2(const Operand& a, const AxesOptions& options) { return ifftn(a, last_two(options)); }
Array rfft2(const Operand& a, const AxesOptions& options) { return rfftn(a, last_two(options)); }
Array irfft2(const Operand& a, const AxesOptions& options) { return irfftn(a, last_two(options)); }

}  // namespace heddle::fft
