#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heddle/array.h"

/// Discrete Fourier transforms, as in numpy.fft. float16, float32 and complex64 are transformed as
/// complex64, all else as complex128. A transform is one generated kernel, in which elementwise
/// operations before and after it fuse; one that is too long for that is two or three. Transformed
/// axes have constant lengths. Errors of every function: AxisError for an axis out of range,
/// ValueError for a length below 1, ShapeError for a symbolic length.
namespace heddle::fft {

/// Which direction is scaled, by 1 / n: the inverse, the forward one, or both by 1 / sqrt(n).
enum class Norm { backward, forward, ortho };

struct Options {
  std::optional<std::int64_t> n = {};  ///< length: the input is cropped or padded with zeros
  std::int64_t axis = -1;
  Norm norm = Norm::backward;
};

/// numpy.fft.fft and ifft, along one axis.
Array fft(const Operand& a, const Options& options = {});
Array ifft(const Operand& a, const Options& options = {});
/// numpy.fft.rfft: of n real numbers, the n / 2 + 1 elements that determine the others. DTypeError
/// for complex numbers.
Array rfft(const Operand& a, const Options& options = {});
/// numpy.fft.irfft, the inverse: n real numbers, by default 2 (m - 1) for m elements.
Array irfft(const Operand& a, const Options& options = {});
/// numpy.fft.hfft, the transform of a Hermitian signal given by its first half, and its inverse
/// ihfft. DTypeError for complex operands of ihfft.
Array hfft(const Operand& a, const Options& options = {});
Array ihfft(const Operand& a, const Options& options = {});

struct AxesOptions {
  std::optional<std::vector<std::int64_t>> s = {};     ///< lengths; -1: the operand's extent
  std::optional<std::vector<std::int64_t>> axes = {};  ///< by default the last ones, or all
  Norm norm = Norm::backward;
};

/// numpy.fft.fftn, ifftn, rfftn and irfftn: along several axes, the last of them first. The real
/// ones halve the last axis. ValueError if `s` and `axes` differ in length.
Array fftn(const Operand& a, const AxesOptions& options = {});
Array ifftn(const Operand& a, const AxesOptions& options = {});
Array rfftn(const Operand& a, const AxesOptions& options = {});
Array irfftn(const Operand& a, const AxesOptions& options = {});
/// numpy.fft.fft2, ifft2, rfft2 and irfft2: the same along the last two axes by default.
Array fft2(const Operand& a, const AxesOptions& options = {});
Array ifft2(const Operand& a, const AxesOptions& options = {});
Array rfft2(const Operand& a, const AxesOptions& options = {});
Array irfft2(const Operand& a, const AxesOptions& options = {});

/// numpy.fft.fftfreq and rfftfreq: the frequencies of the elements of a transform of n samples at
/// distance d, as float64. ValueError for n < 1 or d = 0.
Array fftfreq(std::int64_t n, double d = 1, SourceLocation where = SourceLocation::current());
Array rfftfreq(std::int64_t n, double d = 1, SourceLocation where = SourceLocation::current());
/// numpy.fft.fftshift and ifftshift: moves frequency 0 to the middle of the axes, by default all,
/// and back.
Array fftshift(const Operand& x, const Axes& axes = {});
Array ifftshift(const Operand& x, const Axes& axes = {});

}  // namespace heddle::fft
