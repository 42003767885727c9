#include "frontend/io/text_numbers.h"

#include <algorithm>
#include <charconv>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <system_error>

#include "frontend/graph/storage.h"

namespace heddle::frontend {

namespace {

std::string_view stripped(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// The text without a leading plus.
std::string_view without_plus(std::string_view text) {
  const bool has_plus = text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+';
  return has_plus ? text.substr(1) : text;
}

/// The value of a decimal number out of double's range: 0 or infinity.
double beyond_double(std::string_view text) {
  const double sign = text.front() == '-' ? -1 : 1;
  const std::size_t mark = text.find_first_of("eE");
  std::int64_t power = 0;
  if (mark != std::string_view::npos) {
    const std::string_view digits = without_plus(text.substr(mark + 1));
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), power);
    if (error == std::errc::result_out_of_range)
      power = digits.front() == '-' ? INT32_MIN : INT32_MAX;
  }
  const std::string_view mantissa = text.substr(0, mark);
  const std::size_t first = mantissa.find_first_of("123456789");
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  power += static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  return sign * (power > 0 ? std::numeric_limits<double>::infinity() : 0.0);
}

/// Removes a float from the front of the text and returns it; none if there is no number.
std::optional<double> take_double(std::string_view& text) {
  const std::string_view number = without_plus(text);
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error == std::errc::invalid_argument) return std::nullopt;
  const auto length = static_cast<std::size_t>(end - number.data());
  const std::string_view taken = number.substr(0, length);
  if (taken.ends_with(')')) return std::nullopt;  // "nan(1)"
  if (error == std::errc::result_out_of_range) value = beyond_double(taken);
  text = number.substr(length);
  return value;
}

std::optional<double> to_double(std::string_view text) {
  const std::optional<double> value = take_double(text);
  return text.empty() ? value : std::nullopt;
}

/// "1", "2j" or "1-2j", optionally in parentheses.
std::optional<std::complex<double>> to_complex(std::string_view text) {
  if (text.starts_with('(')) {
    if (!text.ends_with(')')) return std::nullopt;
    text = stripped(text.substr(1, text.size() - 2));
  }
  const std::optional<double> first = take_double(text);
  if (!first) return std::nullopt;
  if (text.empty()) return std::complex(*first, 0.0);
  if (text == "j") return std::complex(0.0, *first);
  if (text.front() != '+' && text.front() != '-') return std::nullopt;
  const std::optional<double> second = take_double(text);
  return second && text == "j" ? std::optional(std::complex(*first, *second)) : std::nullopt;
}

}  // namespace

TextNumbers::TextNumbers(DType dtype)
    : dtype_(dtype),
      wide_(is_complex(dtype)     ? DType::c128
            : is_floating(dtype)  ? DType::f64
            : dtype == DType::u64 ? DType::u64
                                  : DType::i64) {}

template <class T>
void TextNumbers::store(const T& value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  bytes_.insert(bytes_.end(), bytes, bytes + sizeof(T));
  ++count_;
}

template <class T>
bool TextNumbers::append_integer(std::string_view text) {
  text = without_plus(text);
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  if (!is_boolean(dtype_) && size_of(dtype_) < sizeof(T)) {
    const auto bits = static_cast<int>(8 * size_of(dtype_));
    const bool is_signed = is_signed_integer(dtype_);
    const std::int64_t high = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    const std::int64_t low = is_signed ? -high - 1 : 0;
    if (static_cast<std::int64_t>(value) < low || static_cast<std::int64_t>(value) > high)
      return false;
  }
  store(value);
  return true;
}

bool TextNumbers::append(std::string_view text) {
  text = stripped(text);
  if (wide_ == DType::u64) return append_integer<std::uint64_t>(text);
  if (wide_ == DType::i64) return append_integer<std::int64_t>(text);
  if (wide_ == DType::f64) {
    const std::optional<double> value = to_double(text);
    if (value) store(*value);
    return value.has_value();
  }
  const auto value = to_complex(text);
  if (value) store(*value);
  return value.has_value();
}

std::vector<std::byte> TextNumbers::finish() const {
  std::vector<std::byte> result(count_ * size_of(dtype_));
  convert(bytes_.data(), wide_, result.data(), dtype_, count_);
  return result;
}

}  // namespace heddle::frontend
