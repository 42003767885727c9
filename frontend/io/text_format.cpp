#include "frontend/io/text_format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "heddle/error.h"

namespace heddle::frontend {

namespace {

constexpr std::size_t widest = 10'000;  // maximum width, so that a mistyped format is an error

/// Removes a count from the front of the format and returns it.
std::size_t take_count(std::string_view& format) {
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(format.data(), format.data() + format.size(), count);
  format.remove_prefix(static_cast<std::size_t>(end - format.data()));
  if (error == std::errc::result_out_of_range || count > widest)
    throw ValueError(fmt::format("a format has a width of more than {}", widest));
  return count;
}

bool take(std::string_view& format, char c) {
  if (!format.starts_with(c)) return false;
  format.remove_prefix(1);
  return true;
}

double value_of(const PrintedNumber& number) {
  if (is_floating(number.dtype)) return number.element.value;
  const auto magnitude = static_cast<double>(number.magnitude);
  return number.is_negative ? -magnitude : magnitude;
}

bool is_negative(const PrintedNumber& number, bool whole) {
  if (!is_floating(number.dtype)) return number.is_negative;
  const double value = number.element.value;
  return whole ? std::trunc(value) < 0 : std::signbit(value) && !std::isnan(value);
}

std::string with_digits(std::string digits, int least) {
  const auto count = static_cast<std::size_t>(std::max(least, 0));
  if (digits.size() < count) digits.insert(0, count - digits.size(), '0');
  return digits;
}

/// The digits of a number's integer part, without sign.
std::string whole_digits(const PrintedNumber& number) {
  if (!is_floating(number.dtype)) return fmt::format("{}", number.magnitude);
  const double value = number.element.value;
  if (!std::isfinite(value))
    throw ValueError(fmt::format("{} is not an integer, which the format requires", value));
  return fmt::format("{:.0f}", std::trunc(std::abs(value)));
}

std::string text_of(const PrintedNumber& number) {
  if (is_boolean(number.dtype)) return number.magnitude != 0 ? "True" : "False";
  if (is_floating(number.dtype)) return scalar_text(number.dtype, number.element);
  return fmt::format("{}{}", number.is_negative ? "-" : "", number.magnitude);
}

}  // namespace

TextFormat::TextFormat(std::string_view format) {
  std::string before;
  while (!format.empty()) {
    const char c = format.front();
    format.remove_prefix(1);
    if (c != '%' || take(format, '%')) {
      before += c;
      continue;
    }
    Conversion conversion = parse(format);
    conversion.before = std::exchange(before, {});
    conversions_.push_back(std::move(conversion));
  }
  rest_ = std::move(before);
}

TextFormat::Conversion TextFormat::parse(std::string_view& format) {
  Conversion result;
  for (bool is_flag = true; is_flag;) {
    is_flag = true;
    if (take(format, '-')) {
      result.left = true;
    } else if (take(format, '0')) {
      result.zero = true;
    } else if (take(format, '#')) {
      result.alternate = true;
    } else if (take(format, '+')) {
      result.plus = "+";
    } else if (take(format, ' ')) {
      if (result.plus.empty()) result.plus = " ";
    } else {
      is_flag = false;
    }
  }
  result.width = take_count(format);
  if (take(format, '.')) result.precision = static_cast<int>(take_count(format));
  if (!format.empty() && std::string_view("hlL").find(format.front()) != std::string_view::npos)
    format.remove_prefix(1);
  if (format.empty() ||
      std::string_view("diuxXoeEfFgGs").find(format.front()) == std::string_view::npos) {
    throw ValueError(fmt::format("a format has no conversion after %: \"{}\"", format));
  }
  result.type = format.front();
  format.remove_prefix(1);
  return result;
}

std::string TextFormat::digits_of(const Conversion& conversion, const PrintedNumber& number) {
  const int precision = conversion.precision;
  const auto based = [&](std::string_view prefix, std::string digits) {
    if (!is_integer(number.dtype)) {
      throw DTypeError(fmt::format("%{1} does not support {0}; %d prints the integer part",
                                   numpy_name_of(number.dtype), conversion.type));
    }
    digits = with_digits(std::move(digits), precision);
    return conversion.alternate ? std::string(prefix) + digits : digits;
  };
  switch (conversion.type) {
    case 'd':
    case 'i':
    case 'u':
      return with_digits(whole_digits(number), precision);
    case 'x':
      return based("0x", fmt::format("{:x}", number.magnitude));
    case 'X':
      return based("0X", fmt::format("{:X}", number.magnitude));
    case 'o':
      return based("0o", fmt::format("{:o}", number.magnitude));
    default: {
      const std::string spec = fmt::format("{{:{}.{}{}}}", conversion.alternate ? "#" : "",
                                           precision < 0 ? 6 : precision, conversion.type);
      return fmt::format(fmt::runtime(spec), std::abs(value_of(number)));
    }
  }
}

void TextFormat::append(std::size_t i, const PrintedNumber& number, std::string& text) const {
  const Conversion& conversion = conversions_[i];
  text += conversion.before;
  std::string sign, digits;
  bool zeros = conversion.zero && !conversion.left;
  if (conversion.type == 's') {
    digits = text_of(number).substr(0, conversion.precision < 0
                                           ? std::string::npos
                                           : static_cast<std::size_t>(conversion.precision));
    zeros = false;
  } else {
    digits = digits_of(conversion, number);
    const bool whole = std::string_view("diu").find(conversion.type) != std::string_view::npos;
    sign = is_negative(number, whole) ? "-" : conversion.plus;
  }
  const std::size_t size = sign.size() + digits.size();
  const std::size_t missing = conversion.width > size ? conversion.width - size : 0;
  if (zeros) {
    const std::size_t prefix =
        conversion.alternate && digits.size() > 1 &&
                std::string_view("xXo").find(conversion.type) != std::string_view::npos
            ? 2
            : 0;
    digits.insert(prefix, missing, '0');
  } else if (!conversion.left) {
    text.append(missing, ' ');
  }
  text += sign;
  text += digits;
  if (conversion.left) text.append(missing, ' ');
}

}  // namespace heddle::frontend
