#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/array/format_number.h"

namespace heddle::frontend {

/// A number as printf's conversions take it.
struct PrintedNumber {
  DType dtype = DType::f64;
  bool is_negative = false;
  std::uint64_t magnitude = 0;  ///< of integers and bools
  FloatElement element{};       ///< of floats
};

/// The conversions of a format as printf's, with the text around them.
class TextFormat {
 public:
  /// ValueError, without a place, for what is no conversion.
  explicit TextFormat(std::string_view format);

  std::size_t conversions() const { return conversions_.size(); }
  /// Appends the text before conversion i, and the number by it. DTypeError, ValueError.
  void append(std::size_t i, const PrintedNumber& number, std::string& text) const;
  /// Appends the text behind the last conversion.
  void append_rest(std::string& text) const { text += rest_; }

 private:
  struct Conversion {
    std::string before;
    bool left = false, zero = false, alternate = false;
    std::string plus;  ///< what positive numbers begin with
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
