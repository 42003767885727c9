#include <cstring>
#include <ostream>

#include <fmt/format.h>

#include "heddle/io.h"

#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/axes.h"
#include "frontend/graph/record.h"
#include "frontend/graph/storage.h"
#include "frontend/graph/trace.h"
#include "frontend/io/atomic_file.h"
#include "frontend/io/text_format.h"

namespace heddle {

using frontend::at;
using frontend::PrintedNumber;
using frontend::TextFormat;

namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t i = text.find(from); i != std::string::npos; i = text.find(from, i + to.size()))
    text.replace(i, from.size(), to);
  return text;
}

/// The elements of an array as numbers to print; a complex number is two.
class PrintedArray {
 public:
  PrintedArray(DType dtype, std::vector<std::byte> bytes)
      : dtype_(is_complex(dtype) ? real_dtype(dtype) : dtype), bytes_(std::move(bytes)) {}

  PrintedNumber operator[](std::size_t i) const {
    const std::size_t size = size_of(dtype_);
    const std::byte* place = bytes_.data() + i * size;
    PrintedNumber number{.dtype = dtype_};
    if (is_floating(dtype_)) {
      std::memcpy(&number.element.bits, place, size);
      frontend::convert(place, dtype_, &number.element.value, DType::f64, 1);
    } else if (is_signed_integer(dtype_)) {
      std::int64_t value = 0;
      frontend::convert(place, dtype_, &value, DType::i64, 1);
      number.is_negative = value < 0;
      number.magnitude = static_cast<std::uint64_t>(value);
      if (number.is_negative) number.magnitude = 0 - number.magnitude;
    } else {
      frontend::convert(place, dtype_, &number.magnitude, DType::u64, 1);
    }
    return number;
  }

 private:
  DType dtype_;
  std::vector<std::byte> bytes_;
};

/// The format of a row with the given number of columns.
TextFormat row_format(const SaveTextOptions& options, std::size_t columns, bool complexes) {
  const auto& formats = options.formats;
  const auto joined = [&](const auto& format_of) {
    std::string text;
    for (std::size_t i = 0; i < columns; ++i) {
      if (i > 0) text += options.delimiter;
      text += format_of(i);
    }
    return text;
  };
  const auto refuse = [&](std::size_t count) {
    throw ValueError(fmt::format("there are {} formats for {} columns", count, columns));
  };
  std::string text;
  const std::size_t wanted = columns * (complexes ? 2 : 1);
  if (formats.size() != 1) {
    if (formats.size() != columns) refuse(formats.size());
    text = joined([&](std::size_t i) { return formats[i]; });
  } else if (TextFormat(formats[0]).conversions() == 1) {
    const std::string both = fmt::format(" ({0}+{0}j)", formats[0]);
    text = joined([&](std::size_t) { return complexes ? both : formats[0]; });
  } else {
    text = formats[0];
  }
  TextFormat result(text);
  if (result.conversions() != wanted) refuse(result.conversions());
  return result;
}

class TextWriter {
 public:
  TextWriter(std::ostream& stream, const SaveTextOptions& options)
      : stream_(stream), options_(options) {}

  void comment(const std::string& text) {
    if (text.empty()) return;
    stream_ << options_.comments << replaced(text, "\n", "\n" + options_.comments)
            << options_.newline;
  }
  void rows(const PrintedArray& numbers, std::size_t rows, std::size_t columns, bool complexes) {
    const TextFormat format = row_format(options_, columns, complexes);
    std::string line;
    for (std::size_t row = 0; row < rows; ++row) {
      line.clear();
      for (std::size_t i = 0; i < format.conversions(); ++i)
        format.append(i, numbers[row * format.conversions() + i], line);
      format.append_rest(line);
      line += options_.newline;
      stream_ << (complexes ? replaced(std::move(line), "+-", "-") : line);
    }
  }

 private:
  std::ostream& stream_;
  const SaveTextOptions& options_;
};

/// Calls `write` with a function that writes the text to a stream, after everything that can fail
/// for the array has succeeded.
template <class Write>
void write_text(const Array& x, const SaveTextOptions& options, const SourceLocation& where,
                const Write& write) {
  if (frontend::Trace::current() != nullptr) frontend::value_in_trace("savetxt", where);
  const frontend::NodeRef node = frontend::evaluated_node(x, "savetxt", where);
  const Shape shape = frontend::constant_shape("savetxt", node, where);
  if (shape.size() != 1 && shape.size() != 2) {
    throw ShapeError(at(fmt::format("savetxt: takes a vector or a matrix, not {}; reshape it",
                                    frontend::describe(*node)),
                        where));
  }
  const bool complexes = is_complex(node->dtype);
  const PrintedArray numbers(node->dtype, frontend::download(*node));
  const auto rows = static_cast<std::size_t>(shape[0]);
  const auto columns = static_cast<std::size_t>(shape.size() == 2 ? shape[1] : 1);
  write([&](std::ostream& stream) {
    TextWriter writer(stream, options);
    writer.comment(options.header);
    frontend::located(where, [&] { writer.rows(numbers, rows, columns, complexes); });
    writer.comment(options.footer);
  });
}

}  // namespace

void savetxt(const std::string& path, const Array& x, const SaveTextOptions& options,
             SourceLocation where) {
  write_text(x, options, where,
             [&](const auto& print) { frontend::write_whole("savetxt", path, where, print); });
}

void savetxt(std::ostream& stream, const Array& x, const SaveTextOptions& options,
             SourceLocation where) {
  write_text(x, options, where, [&](const auto& print) { print(stream); });
}

}  // namespace heddle
