#include "heddle/fft.h"

#include <fmt/format.h>

#include "frontend/python/bindings.h"
#include "frontend/python/device.h"

namespace heddle::python {

namespace {

fft::Norm norm_of(const Arguments& a, std::size_t i) {
  if (a.is_none(i)) return fft::Norm::backward;
  const std::string name = a.text(i);
  if (name == "backward") return fft::Norm::backward;
  if (name == "forward") return fft::Norm::forward;
  if (name == "ortho") return fft::Norm::ortho;
  throw ValueError(
      fmt::format("{}: norm must be 'backward', 'ortho' or 'forward', not '{}'", a.name(), name));
}

template <Array (*function)(const Operand&, const fft::Options&)>
struct AlongAxis {
  Array operator()(const Arguments& a) const {
    return function(a.operand(0), {a.optional_integer(1), a.integer(2), norm_of(a, 3)});
  }
};

std::optional<std::vector<std::int64_t>> lengths_of(const Arguments& a, std::size_t i) {
  if (a.is_none(i)) return std::nullopt;
  return a.integers(i);
}

template <Array (*function)(const Operand&, const fft::AxesOptions&)>
struct AlongAxes {
  Array operator()(const Arguments& a) const {
    return function(a.operand(0), {lengths_of(a, 1), lengths_of(a, 2), norm_of(a, 3)});
  }
};

template <Array (*function)(std::int64_t, double, SourceLocation)>
nb::object frequencies(const Arguments& a) {
  const Array found = function(a.integer(0), a.number(1), a.where());
  const DType dtype = a.dtype(3, DType::f64);
  if (!is_floating(dtype)) a.mistyped(3, "a floating dtype");
  return on_device(astype(Operand(found, a.where()), dtype), a[2]);
}

constexpr const char* one_axis =
    "(a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None, "
    "out: Array | None = None) -> Array";
constexpr const char* several_axes =
    "(a: Operand, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, "
    "norm: str | None = None, out: Array | None = None) -> Array";
constexpr const char* two_axes =
    "(a: Operand, s: Sequence[int] | None = None, axes: Sequence[int] | None = (-2, -1), "
    "norm: str | None = None, out: Array | None = None) -> Array";

void bind_one_axis(Functions& functions, nb::module_& module) {
  const auto def = [&](const char* name, const char* text, auto function) {
    functions.def_in(module, named(name, one_axis), text, function);
  };
  def("fft",
      "The discrete Fourier transform along an axis: numpy.fft.fft. The axis is cropped or padded "
      "with zeros to n. `norm`: 'backward' scales the inverse by 1/n, 'forward' this direction, "
      "'ortho' both by 1/sqrt(n).\n\nRaises AxisError, and ValueError for n < 1.\n\n"
      "Example: hd.fft.fft(x, axis=0)",
      AlongAxis<fft::fft>());
  def("ifft", "The inverse of fft: numpy.fft.ifft.", AlongAxis<fft::ifft>());
  def("rfft",
      "The first n // 2 + 1 elements of the transform of real numbers: numpy.fft.rfft. Raises "
      "DTypeError for complex numbers.\n\nExample: hd.abs(hd.fft.rfft(signal)) ** 2",
      AlongAxis<fft::rfft>());
  def("irfft",
      "The inverse of rfft: numpy.fft.irfft. n, the number of results, is 2 * (m - 1) by default "
      "for an axis of m elements.",
      AlongAxis<fft::irfft>());
  def("hfft", "The transform, real, of a Hermitian signal given by its first half: numpy.fft.hfft.",
      AlongAxis<fft::hfft>());
  def("ihfft", "The inverse of hfft: numpy.fft.ihfft. Raises DTypeError for complex numbers.",
      AlongAxis<fft::ihfft>());
}

void bind_several_axes(Functions& functions, nb::module_& module) {
  const auto def = [&](const char* name, const char* parameters, const char* text, auto function) {
    functions.def_in(module, named(name, parameters), text, function);
  };
  def("fftn", several_axes,
      "fft along several axes, by default all: numpy.fft.fftn. `s` has their lengths; -1 keeps "
      "one.",
      AlongAxes<fft::fftn>());
  def("ifftn", several_axes, "The inverse of fftn: numpy.fft.ifftn.", AlongAxes<fft::ifftn>());
  def("rfftn", several_axes,
      "rfft along the last of several axes, and fft along the others: numpy.fft.rfftn.",
      AlongAxes<fft::rfftn>());
  def("irfftn", several_axes, "The inverse of rfftn: numpy.fft.irfftn.", AlongAxes<fft::irfftn>());
  def("fft2", two_axes, "fft along two axes: numpy.fft.fft2.", AlongAxes<fft::fft2>());
  def("ifft2", two_axes, "The inverse of fft2: numpy.fft.ifft2.", AlongAxes<fft::ifft2>());
  def("rfft2", two_axes, "rfft and fft along two axes: numpy.fft.rfft2.", AlongAxes<fft::rfft2>());
  def("irfft2", two_axes, "The inverse of rfft2: numpy.fft.irfft2.", AlongAxes<fft::irfft2>());
}

}  // namespace

void bind_fft(Functions& functions) {
  nb::module_ module =
      functions.module().def_submodule("fft", "Discrete Fourier transforms, like numpy.fft.");
  bind_one_axis(functions, module);
  bind_several_axes(functions, module);
  functions.def_in(module,
                   "fftfreq(n: int, d: float = 1.0, device: Device | None = None, *, "
                   "dtype: DTypeLike | None = None) -> Array",
                   "The frequencies of the elements of a transform of n samples at distance d, by "
                   "default as float64: numpy.fft.fftfreq. Raises ValueError for n < 1 or d == 0.",
                   [](const Arguments& a) { return frequencies<fft::fftfreq>(a); });
  functions.def_in(module,
                   "rfftfreq(n: int, d: float = 1.0, device: Device | None = None, *, "
                   "dtype: DTypeLike | None = None) -> Array",
                   "The same for rfft: numpy.fft.rfftfreq.",
                   [](const Arguments& a) { return frequencies<fft::rfftfreq>(a); });
  functions.def_in(module, "fftshift(x: Operand, axes: Axes = None) -> Array",
                   "Moves frequency 0 to the middle of the axes, by default all: "
                   "numpy.fft.fftshift.",
                   [](const Arguments& a) { return fft::fftshift(a.operand(0), a.axes(1)); });
  functions.def_in(module, "ifftshift(x: Operand, axes: Axes = None) -> Array",
                   "The inverse of fftshift: numpy.fft.ifftshift.",
                   [](const Arguments& a) { return fft::ifftshift(a.operand(0), a.axes(1)); });
}

}  // namespace heddle::python
