#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/dtype.h"
#include "heddle/io.h"

namespace heddle::frontend {

/// A float of any dtype, possibly not finite: its value, exact as a double, and its bits.
struct FloatElement {
  double value;
  std::uint64_t bits;
};

/// Whether positive numbers get a plus sign.
enum class Plus : bool { hidden, shown };

/// Formats all floats of one array alike, as numpy's FloatingFormat with floatmode "maxprec".
class FloatFormat {
 public:
  /// `elements` are the elements that will be printed.
  FloatFormat(DType dtype, const std::vector<FloatElement>& elements, const PrintOptions& options,
              Plus plus = Plus::hidden);
  std::string operator()(const FloatElement& element) const;

 private:
  void measure_scientific(const std::vector<FloatElement>& finite);
  void measure_positional(const std::vector<FloatElement>& finite);

  DType dtype_;
  Plus plus_;
  int precision_;
  bool scientific_ = false;
  std::size_t pad_left_ = 0, pad_right_ = 0;
  std::size_t exponent_digits_ = 0;
};

/// str() of a NumPy scalar: the fewest digits that read back to the same value.
std::string scalar_text(DType dtype, const FloatElement& element);
/// str() of a NumPy complex scalar with parts of dtype `part`: "(1-2.5j)", "2j".
std::string complex_scalar_text(DType part, const FloatElement& real,
                                const FloatElement& imaginary);

}  // namespace heddle::frontend
