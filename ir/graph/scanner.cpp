#include "ir/graph/scanner.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/words.h"

namespace heddle::ir {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

std::size_t Scanner::position() {
  while (position_ < text_.size()) {
    if (is_space(text_[position_])) {
      ++position_;
    } else if (text_.substr(position_).starts_with("//")) {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else {
      break;
    }
  }
  return position_;
}

char Scanner::peek() { return position() < text_.size() ? text_[position_] : '\0'; }

bool Scanner::accept(char c) {
  if (position() == text_.size() || text_[position_] != c) return false;
  ++position_;
  return true;
}

void Scanner::expect(char c) {
  if (!accept(c)) fail_expected(fmt::format("'{}'", c));
}

bool Scanner::accept_word(std::string_view word) {
  const std::size_t begin = position(), end = word_end(begin);
  if (text_.substr(begin, end - begin) != word) return false;
  position_ = end;
  return true;
}

void Scanner::expect_word(std::string_view word) {
  if (!accept_word(word)) fail_expected(fmt::format("'{}'", word));
}

void Scanner::expect_end() {
  if (position() != text_.size()) fail_expected("the end of the text");
}

std::string_view Scanner::word(std::string_view what) {
  const std::size_t begin = position(), end = word_end(begin);
  if (begin == end) fail_expected(what);
  position_ = end;
  return text_.substr(begin, end - begin);
}

std::string Scanner::name() {
  if (accept('"')) return quoted();
  const std::size_t begin = position();
  std::size_t end = begin;
  while (end < text_.size() && (is_word_part(text_[end]) || text_[end] == '.')) ++end;
  if (begin == end) fail_expected("a function's name");
  position_ = end;
  return std::string(text_.substr(begin, end - begin));
}

std::string Scanner::quoted() {
  std::string result;
  for (; position_ < text_.size(); ++position_) {
    char c = text_[position_];
    if (c == '"') {
      ++position_;
      return result;
    }
    if (c == '\\' && position_ + 1 < text_.size()) {
      c = text_[++position_];
      if (c == 'n') c = '\n';
    }
    result += c;
  }
  fail_expected("'\"'");
}

std::int64_t Scanner::integer() {
  const std::size_t begin = position();
  std::size_t end = begin;
  if (end < text_.size() && text_[end] == '-') ++end;
  end = word_end(end);
  std::int64_t value = 0;
  const char* const stop = text_.data() + end;
  const auto [read, error] = std::from_chars(text_.data() + begin, stop, value);
  if (error == std::errc::result_out_of_range) fail(begin, "the integer does not fit 64 bits");
  if (error != std::errc() || read != stop) fail_expected("an integer");
  position_ = end;
  return value;
}

std::string_view Scanner::literal() {
  const std::size_t begin = position();
  std::size_t end = begin;
  while (end < text_.size() && !is_space(text_[end]) && text_[end] != ':') ++end;
  if (begin == end) fail_expected("a value");
  position_ = end;
  return text_.substr(begin, end - begin);
}

std::string_view Scanner::until_any_of(std::string_view ends) {
  const std::size_t begin = position();
  position_ = std::min(text_.find_first_of(ends, begin), text_.size());
  return text_.substr(begin, position_ - begin);
}

std::size_t Scanner::word_end(std::size_t begin) const {
  std::size_t end = begin;
  while (end < text_.size() && is_word_part(text_[end])) ++end;
  return end;
}

std::string Scanner::line_and_column(std::size_t position) const {
  const std::string_view before = text_.substr(0, position);
  const auto line = 1 + std::ranges::count(before, '\n');
  // Before the first newline, rfind returns npos, and npos + 1 is 0, the start of the text.
  const std::size_t column = 1 + position - (before.rfind('\n') + 1);
  return fmt::format("{}:{}", line, column);
}

void Scanner::fail(std::size_t position, std::string_view message) const {
  throw ParseError(fmt::format("{}: {}", line_and_column(position), message));
}

void Scanner::fail_expected(std::string_view what) {
  const std::size_t begin = position();
  if (begin == text_.size()) fail(begin, fmt::format("expected {}, but the text ends", what));
  const std::size_t end = std::max(word_end(begin), begin + 1);
  fail(begin, fmt::format("expected {}, not '{}'", what, text_.substr(begin, end - begin)));
}

}  // namespace heddle::ir
