#include "frontend/array/format_number.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "frontend/graph/storage.h"
#include "ir/types/literal.h"

namespace heddle::frontend {
namespace {

/// The magnitude 0.d1d2d3... * 10^point, with the fewest digits that read back to the same value.
struct Digits {
  std::string digits;  ///< no leading or trailing zeros; "" for 0
  int point = 0;
};

/// Uses scientific notation, which gives the shortest digits; fixed notation prints all digits of
/// large numbers.
template <class Float, class Bits>
std::string scientific_text(Bits bits) {
  char text[40];
  const auto [end, error] = std::to_chars(text, text + sizeof text, std::bit_cast<Float>(bits),
                                          std::chars_format::scientific);
  return {text, end};
}

Digits shortest_digits(DType dtype, std::uint64_t bits) {
  const std::string text = dtype == DType::f32
                               ? scientific_text<float>(static_cast<std::uint32_t>(bits))
                           : dtype == DType::f64 ? scientific_text<double>(bits)
                                                 : ir::literal_text(dtype, bits);
  Digits result;
  bool fraction = false;
  int exponent = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.') {
      fraction = true;
    } else if (c == 'e' || c == 'E') {
      exponent = std::stoi(text.substr(i + 1));
      break;
    } else if (c >= '0' && c <= '9') {
      if (c != '0' || !result.digits.empty()) {
        result.digits += c;
        if (!fraction) ++result.point;
      } else if (fraction) {
        --result.point;
      }
    }
  }
  result.point += exponent;
  result.digits.erase(result.digits.find_last_not_of('0') + 1);
  if (result.digits.empty()) result.point = 0;
  return result;
}

struct Positional {
  std::string integer, fraction;
};
struct Scientific {
  std::string integer, fraction, exponent;  ///< exponent with its sign and at least two digits
};

std::string sign_of(double value, Plus plus = Plus::hidden) {
  return std::signbit(value) ? "-" : plus == Plus::shown ? "+" : "";
}

void trim_zeros(std::string& digits) { digits.erase(digits.find_last_not_of('0') + 1); }

/// At most `precision` digits after the decimal point; fewer if they identify the value.
Positional positional(DType dtype, const FloatElement& element, int precision,
                      Plus plus = Plus::hidden) {
  const Digits shortest = shortest_digits(dtype, element.bits);
  const int count = static_cast<int>(shortest.digits.size());
  if (count - shortest.point > precision) {
    const std::string text = fmt::format("{:.{}f}", std::abs(element.value), precision);
    const std::size_t point = std::min(text.find('.'), text.size());
    Positional result{sign_of(element.value, plus) + text.substr(0, point),
                      point < text.size() ? text.substr(point + 1) : ""};
    trim_zeros(result.fraction);
    return result;
  }
  Positional result{sign_of(element.value, plus), ""};
  for (int i = 0; i < shortest.point; ++i) {
    result.integer += i < count ? shortest.digits[static_cast<std::size_t>(i)] : '0';
  }
  if (shortest.point <= 0) result.integer += '0';
  if (count > 0)
    result.fraction.assign(static_cast<std::size_t>(std::max(0, -shortest.point)), '0');
  for (int i = std::max(0, shortest.point); i < count; ++i) {
    result.fraction += shortest.digits[static_cast<std::size_t>(i)];
  }
  return result;
}

/// Between `least` and `most` digits after the decimal point.
Scientific scientific(DType dtype, const FloatElement& element, int least, int most,
                      Plus plus = Plus::hidden) {
  const Digits shortest = shortest_digits(dtype, element.bits);
  const int behind = std::max(0, static_cast<int>(shortest.digits.size()) - 1);
  Scientific result;
  int exponent = 0;
  if (behind > most || behind < least) {
    const std::string text =
        fmt::format("{:.{}e}", std::abs(element.value), std::clamp(behind, least, most));
    const std::size_t e = text.find('e');
    result.integer = sign_of(element.value, plus) + text.substr(0, 1);
    if (e > 1) result.fraction = text.substr(2, e - 2);
    exponent = std::stoi(text.substr(e + 1));
    if (least == 0) trim_zeros(result.fraction);
  } else {
    result.integer = sign_of(element.value, plus) +
                     (shortest.digits.empty() ? "0" : shortest.digits.substr(0, 1));
    if (behind > 0) result.fraction = shortest.digits.substr(1);
    exponent = shortest.digits.empty() ? 0 : shortest.point - 1;
  }
  result.exponent = fmt::format("{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  return result;
}

std::string pad(std::size_t width, const std::string& text) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

/// Number of decimal digits that the dtype always preserves: numpy.finfo(dtype).precision.
int decimal_precision(DType dtype) {
  if (dtype == DType::f64) return 15;
  return dtype == DType::f16 ? 3 : 6;
}

}  // namespace

FloatFormat::FloatFormat(DType dtype, const std::vector<FloatElement>& elements,
                         const PrintOptions& options, Plus plus)
    : dtype_(dtype), plus_(plus), precision_(options.precision) {
  std::vector<FloatElement> finite;
  double largest = 0, smallest = HUGE_VAL;
  bool negative_infinity = plus == Plus::shown;
  for (const FloatElement& element : elements) {
    if (!std::isfinite(element.value)) {
      negative_infinity |= std::isinf(element.value) && element.value < 0;
      continue;
    }
    finite.push_back(element);
    const double magnitude = std::abs(element.value);
    if (magnitude == 0) continue;
    largest = std::max(largest, magnitude);
    smallest = std::min(smallest, magnitude);
  }
  if (largest > 0) {
    const double cutoff = std::pow(10.0, std::min(8, decimal_precision(dtype)));
    // NumPy compares in the array's dtype. A quotient that overflows also exceeds 1000.
    scientific_ =
        largest >= cutoff || (!options.suppress && (smallest < rounded(dtype, 0.0001) ||
                                                    rounded(dtype, largest / smallest) > 1000.0));
  }
  if (!finite.empty()) scientific_ ? measure_scientific(finite) : measure_positional(finite);
  if (finite.size() != elements.size()) {
    const std::size_t offset = pad_right_ + 1;
    const std::size_t width = negative_infinity ? 4 : 3;
    if (width > offset) pad_left_ = std::max(pad_left_, width - offset);
  }
}

void FloatFormat::measure_scientific(const std::vector<FloatElement>& finite) {
  std::size_t fraction = 0;
  for (const FloatElement& element : finite) {
    const Scientific parts = scientific(dtype_, element, 0, precision_, plus_);
    pad_left_ = std::max(pad_left_, parts.integer.size());
    fraction = std::max(fraction, parts.fraction.size());
    exponent_digits_ = std::max(exponent_digits_, parts.exponent.size() - 1);
  }
  precision_ = static_cast<int>(fraction);
  pad_right_ = exponent_digits_ + 2 + fraction;
}

void FloatFormat::measure_positional(const std::vector<FloatElement>& finite) {
  for (const FloatElement& element : finite) {
    const Positional parts = positional(dtype_, element, precision_, plus_);
    pad_left_ = std::max(pad_left_, parts.integer.size());
    pad_right_ = std::max(pad_right_, parts.fraction.size());
  }
}

std::string FloatFormat::operator()(const FloatElement& element) const {
  if (!std::isfinite(element.value)) {
    const std::string text = std::isnan(element.value) ? (plus_ == Plus::shown ? "+nan" : "nan")
                                                       : sign_of(element.value, plus_) + "inf";
    return pad(pad_left_ + pad_right_ + 1, text);
  }
  if (scientific_) {
    const Scientific parts = scientific(dtype_, element, precision_, precision_, plus_);
    const std::string digits = parts.exponent.substr(1);
    const std::string zeros(exponent_digits_ > digits.size() ? exponent_digits_ - digits.size() : 0,
                            '0');
    return pad(pad_left_, parts.integer) + "." + parts.fraction + "e" + parts.exponent[0] + zeros +
           digits;
  }
  const Positional parts = positional(dtype_, element, precision_, plus_);
  std::string text = pad(pad_left_, parts.integer) + "." + parts.fraction;
  text.append(pad_right_ - std::min(pad_right_, parts.fraction.size()), ' ');
  return text;
}

std::string scalar_text(DType dtype, const FloatElement& element) {
  if (std::isnan(element.value)) return "nan";
  if (std::isinf(element.value)) return sign_of(element.value) + "inf";
  const double magnitude = std::abs(element.value);
  const double cutoff = dtype == DType::f64 ? 1e16 : std::pow(10.0, decimal_precision(dtype));
  if (magnitude == 0 || (magnitude >= 1e-4 && magnitude < cutoff)) {
    const Positional parts = positional(dtype, element, 1100);
    return parts.integer + "." + (parts.fraction.empty() ? "0" : parts.fraction);
  }
  const Scientific parts = scientific(dtype, element, 0, 1100);
  return parts.integer + (parts.fraction.empty() ? "" : "." + parts.fraction) + "e" +
         parts.exponent;
}

std::string complex_scalar_text(DType part, const FloatElement& real,
                                const FloatElement& imaginary) {
  const auto text = [&](const FloatElement& element) {
    std::string digits = scalar_text(part, element);
    if (digits.ends_with(".0")) digits.resize(digits.size() - 2);
    return digits;
  };
  if (real.value == 0 && !std::signbit(real.value)) return text(imaginary) + "j";
  const std::string second = text(imaginary);
  return "(" + text(real) + (second.starts_with('-') ? "" : "+") + second + "j)";
}

}  // namespace heddle::frontend
