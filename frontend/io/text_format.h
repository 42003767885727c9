#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/array/format_number.h"

namespace heddle::frontend {

/// A number, in the form that printf conversions need.
struct PrintedNumber {
  DType dtype = DType::f64;
  bool is_negative = false;
  std::uint64_t magnitude = 0;  ///< of integers and bools
  FloatElement element{};       ///< of floats
};

/// A printf format, parsed into conversions and the text around them.
class TextFormat {
 public:
  /// ValueError, without a source location, for an invalid conversion.
  explicit TextFormat(std::string_view format);

  std::size_t conversions() const { return conversions_.size(); }
  /// Appends the text before conversion i, then the number. DTypeError, ValueError.
  void append(std::size_t i, const PrintedNumber& number, std::string& text) const;
  /// Appends the text after the last conversion.
  void append_rest(std::string& text) const { text += rest_; }

 private:
  struct Conversion {
    std::string before;
    bool left = false, zero = false, alternate = false;
    std::string plus;  ///< prefix of positive numbers
    std::size_t width = 0;
    int precision = -1;
    char type = 'd';
  };
  static Conversion parse(std::string_view& format);
  static std::string digits_of(const Conversion& conversion, const PrintedNumber& number);

  std::vector<Conversion> conversions_;
  std::string rest_;
};

}  // namespace heddle::frontend
