#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/io.h"
#include "heddle/manipulation.h"

#include "frontend/graph/record.h"
#include "frontend/io/input_file.h"
#include "frontend/io/text_numbers.h"

namespace heddle {

using frontend::at;
using frontend::is_blank;

namespace {

/// Splits a text into rows of fields.
class Rows {
 public:
  Rows(std::string_view text, const LoadTextOptions& options) : text_(text), options_(options) {
    for (std::int64_t i = 0; i < options.skiprows && !is_end(); ++i) end_line();
  }

  /// Reads the next row; skips empty ones. Returns false at the end.
  bool next() {
    while (!is_end()) {
      count_ = 0;
      first_line_ = line_;
      bool quoted = false;
      if (options_.delimiter) {
        do {
          quoted |= read_field();
        } while (take(*options_.delimiter));
      } else {
        while (skip_blanks(), !is_row_end()) quoted |= read_field();
      }
      end_line();
      const bool is_nothing = count_ == 0 || (count_ == 1 && fields_[0].empty() && !quoted);
      if (!is_nothing) return true;
    }
    return false;
  }

  std::span<const std::string> fields() const { return {fields_.data(), count_}; }
  /// Line in which the row begins, counted from 1.
  std::int64_t line() const { return first_line_; }

 private:
  bool is_end() const { return at_ >= text_.size(); }
  bool is_newline() const { return text_[at_] == '\n' || text_[at_] == '\r'; }
  bool is_comment() const {
    return std::any_of(
        options_.comments.begin(), options_.comments.end(),
        [&](const std::string& mark) { return text_.substr(at_).starts_with(mark); });
  }
  bool is_row_end() const { return is_end() || is_newline() || is_comment(); }
  bool is_field_end() const {
    return is_row_end() ||
           (options_.delimiter ? text_[at_] == *options_.delimiter : is_blank(text_[at_]));
  }
  void skip_blanks() {
    while (!is_end() && !is_newline() && is_blank(text_[at_])) ++at_;
  }
  bool take(char c) {
    if (is_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void end_line() {
    while (!is_end() && !is_newline()) ++at_;
    const bool has_return = take('\r');
    const bool has_feed = take('\n');
    if (has_return || has_feed) ++line_;
  }
  /// Reads a field; returns true if it is quoted. Within quotes, a doubled quote is one quote.
  bool read_field() {
    if (count_ == fields_.size()) fields_.emplace_back();
    std::string& field = fields_[count_++];
    field.clear();
    const bool quoted = options_.quote && take(*options_.quote);
    while (quoted && !is_end()) {
      const char c = text_[at_++];
      if (c == *options_.quote && !take(c)) break;
      if (c == '\n') ++line_;
      field += c;
    }
    const std::size_t start = at_;
    while (!is_field_end()) ++at_;
    field += text_.substr(start, at_ - start);
    return quoted;
  }

  std::string_view text_;
  const LoadTextOptions& options_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1, first_line_ = 1;
  std::vector<std::string> fields_;
  std::size_t count_ = 0;
};

/// Reads the array in a text; errors contain the text's name.
class TextLoader {
 public:
  TextLoader(std::string_view text, std::string name, const LoadTextOptions& options,
             const SourceLocation& where)
      : text_(text), name_(std::move(name)), options_(options), where_(where) {}

  Array operator()() {
    check_options();
    frontend::TextNumbers numbers(options_.dtype);
    Rows rows(text_, options_);
    std::int64_t count = 0;
    while ((!options_.max_rows || count < *options_.max_rows) && rows.next()) {
      options_.usecols ? append_chosen(rows, numbers) : append_all(rows, numbers);
      ++count;
    }
    const std::vector<std::byte> bytes = numbers.finish();
    if (options_.usecols) columns_ = options_.usecols->size();
    const Shape shape = columns_ ? Shape{count, static_cast<std::int64_t>(*columns_)} : Shape{0};
    return fitted(from_memory(bytes.data(), numbers.count(), options_.dtype, shape, where_));
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw ValueError(at(fmt::format("loadtxt: {} {}", name_, what), where_));
  }

  void check_options() const {
    const auto check = [&](bool holds, std::string_view what) {
      if (!holds) throw ValueError(at(fmt::format("loadtxt: {}", what), where_));
    };
    check(options_.ndmin >= 0 && options_.ndmin <= 2, "ndmin is 0, 1 or 2");
    check(options_.skiprows >= 0, "skiprows is negative");
    check(options_.max_rows.value_or(0) >= 0, "max_rows is negative");
    for (const std::string& mark : options_.comments) {
      check(!mark.empty(), "a comment mark must not be empty; to disable comments, pass no marks");
      check(mark[0] != options_.delimiter, "a comment begins with the delimiter");
    }
    check(options_.delimiter != '\n' && options_.delimiter != '\r',
          "the delimiter must not be a line break");
  }

  void append(const Rows& rows, std::size_t field, frontend::TextNumbers& numbers) const {
    if (numbers.append(rows.fields()[field])) return;
    fail(fmt::format("has \"{}\" in line {}, field {}, which is no {}", rows.fields()[field],
                     rows.line(), field + 1, numpy_name_of(options_.dtype)));
  }

  void append_all(const Rows& rows, frontend::TextNumbers& numbers) {
    const std::size_t count = rows.fields().size();
    if (columns_.value_or(count) != count) {
      fail(fmt::format("has {} fields in line {}, but {} before; use usecols to select fields",
                       count, rows.line(), *columns_));
    }
    columns_ = count;
    for (std::size_t field = 0; field < count; ++field) append(rows, field, numbers);
  }

  void append_chosen(const Rows& rows, frontend::TextNumbers& numbers) const {
    const auto count = static_cast<std::int64_t>(rows.fields().size());
    for (const std::int64_t index : *options_.usecols) {
      const std::int64_t field = index < 0 ? index + count : index;
      if (field < 0 || field >= count)
        fail(fmt::format("has {} fields in line {}, and no field {}", count, rows.line(), index));
      append(rows, static_cast<std::size_t>(field), numbers);
    }
  }

  /// Adjusts the rank: drops axes of extent 1, but keeps at least ndmin axes.
  Array fitted(Array x) const {
    if (x.ndim() > options_.ndmin) x = x.squeeze({}, where_);
    if (x.ndim() < options_.ndmin && options_.ndmin == 1) x = atleast_1d({x, where_});
    if (x.ndim() < options_.ndmin) x = atleast_2d({x, where_}).T(where_);
    return options_.unpack ? x.T(where_) : x;
  }

  std::string_view text_;
  std::string name_;
  const LoadTextOptions& options_;
  SourceLocation where_;
  std::optional<std::size_t> columns_;
};

/// Reads the rest of the stream. FileError, with `what`, if it cannot be read.
std::string content_of(std::istream& stream, const std::string& what, const SourceLocation& where) {
  std::string text;
  std::array<char, 1 << 16> part{};
  do {
    stream.read(part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(stream.gcount()));
  } while (stream);
  if (stream.bad()) throw FileError(at(fmt::format("loadtxt: {} cannot be read", what), where));
  return text;
}

Array loaded(std::istream& stream, const std::string& name, const LoadTextOptions& options,
             const SourceLocation& where) {
  return frontend::with_memory("loadtxt", name, where, [&] {
    const std::string text = content_of(stream, name, where);
    return TextLoader(text, name, options, where)();
  });
}

}  // namespace

Array loadtxt(const std::string& path, const LoadTextOptions& options, SourceLocation where) {
  std::ifstream stream = frontend::open_input("loadtxt", path, where);
  stream.seekg(0, std::ios::end);
  frontend::require_memory("loadtxt", path, static_cast<std::uint64_t>(stream.tellg()), where);
  stream.seekg(0);
  return loaded(stream, path, options, where);
}

Array loadtxt(std::istream& stream, const LoadTextOptions& options, SourceLocation where) {
  return loaded(stream, "the stream", options, where);
}

}  // namespace heddle
