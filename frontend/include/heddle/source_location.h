#pragma once

#include <cstdint>
#include <source_location>

namespace heddle {

/// A source location in the user's program. This class replaces std::source_location, which clang
/// 14 and 15 lack; a library and a program built by different compilers must agree on the type.
class SourceLocation {
 public:
#ifdef __cpp_lib_source_location
  static constexpr SourceLocation current(
      std::source_location where = std::source_location::current()) noexcept {
    return {where.file_name(), where.line(), where.column()};
  }
#else
  static constexpr SourceLocation current(
      const char* file = __builtin_FILE(), std::uint_least32_t line = __builtin_LINE(),
      std::uint_least32_t column = __builtin_COLUMN()) noexcept {
    return {file, line, column};
  }
#endif
  constexpr SourceLocation() noexcept = default;
  /// A source location in another language. Recording an op there copies `file`.
  static constexpr SourceLocation at(const char* file, std::uint_least32_t line,
                                     std::uint_least32_t column) noexcept {
    return {file, line, column};
  }
  constexpr const char* file_name() const noexcept { return file_; }
  constexpr std::uint_least32_t line() const noexcept { return line_; }
  constexpr std::uint_least32_t column() const noexcept { return column_; }

 private:
  constexpr SourceLocation(const char* file, std::uint_least32_t line,
                           std::uint_least32_t column) noexcept
      : file_(file), line_(line), column_(column) {}

  const char* file_ = "";
  std::uint_least32_t line_ = 0;
  std::uint_least32_t column_ = 0;
};

}  // namespace heddle
