#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::ir {

/// Reads tokens of the IR's text form. Skips spaces, newlines and // comments between tokens. All
/// errors are ParseError with line and column.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// Position of the next token.
  std::size_t position();
  /// The next token's first character; '\0' at the end.
  char peek();
  bool accept(char c);
  void expect(char c);
  bool accept_word(std::string_view word);
  void expect_word(std::string_view word);
  void expect_end();

  /// Letters, digits and _. If there are none, the error says that `what` was expected.
  std::string_view word(std::string_view what);
  /// A value's name, without its %.
  std::string_view value_word() { return word("a value's name"); }
  /// A function's name: letters, digits, _ and ., or anything in double quotes.
  std::string name();
  std::int64_t integer();
  /// Up to the next space or ':'.
  std::string_view literal();
  /// Up to, and without, one of `ends`.
  std::string_view until_any_of(std::string_view ends);

  /// "3:5": line and column, both counted from 1.
  std::string line_and_column(std::size_t position) const;
  [[noreturn]] void fail(std::size_t position, std::string_view message) const;

 private:
  [[noreturn]] void fail_expected(std::string_view what);
  std::string quoted();
  std::size_t word_end(std::size_t begin) const;

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace heddle::ir
