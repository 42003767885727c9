#include <algorithm>
#include <complex>
#include <cstring>
#include <functional>
#include <mutex>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/io.h"

#include "frontend/array/access.h"
#include "frontend/array/format_number.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/storage.h"
#include "ir/base/fork_gate.h"
#include "ir/types/literal.h"

namespace heddle {
namespace {

constinit ir::Mutex options_mutex;
PrintOptions current_options;

/// The elements of an array, copied to the host, for formatting.
class Elements {
 public:
  Elements(const Array& array, const PrintOptions& options, const SourceLocation& where)
      : shape_(array.shape()), dtype_(array.dtype()), options_(options) {
    bytes_.resize(static_cast<std::size_t>(array.size()) * size_of(dtype_));
    read(array, where);
  }

  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  bool summarised() const {
    return static_cast<std::int64_t>(bytes_.size() / size_of(dtype_)) > options_.threshold;
  }
  const PrintOptions& options() const { return options_; }

  /// For bool and integers.
  std::uint64_t bits(std::size_t index) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes_.data() + index * size_of(dtype_), size_of(dtype_));
    return bits;
  }
  /// A float, or one part of a complex number.
  frontend::FloatElement floating(std::size_t index, bool imaginary = false) const {
    const DType part = real_dtype(dtype_);
    const std::byte* const element =
        bytes_.data() + index * size_of(dtype_) + (imaginary ? size_of(part) : 0);
    frontend::FloatElement result{0, 0};
    frontend::convert(element, part, &result.value, DType::f64, 1);
    std::memcpy(&result.bits, element, size_of(part));
    return result;
  }
  std::vector<frontend::FloatElement> shown_floats(bool imaginary) const {
    std::vector<frontend::FloatElement> shown;
    visit_shown([&](std::size_t i) { shown.push_back(floating(i, imaginary)); });
    return shown;
  }

  /// The indices along an axis that are printed.
  std::vector<std::int64_t> shown(std::size_t axis) const {
    const std::int64_t extent = shape_[axis], edge = options_.edgeitems;
    std::vector<std::int64_t> result;
    for (std::int64_t i = 0; i < extent; ++i) {
      if (!summarised() || extent <= 2 * edge || i < edge || i >= extent - edge)
        result.push_back(i);
    }
    return result;
  }

  /// Calls visit(index) for all elements that are printed.
  void visit_shown(const std::function<void(std::size_t)>& visit, std::size_t axis = 0,
                   std::size_t base = 0) const {
    if (axis == shape_.size()) return visit(base);
    for (std::int64_t i : shown(axis)) {
      visit_shown(visit, axis + 1,
                  base * static_cast<std::size_t>(shape_[axis]) + static_cast<std::size_t>(i));
    }
  }

 private:
  void read(const Array& array, const SourceLocation& where);

  Shape shape_;
  DType dtype_;
  PrintOptions options_;
  std::vector<std::byte> bytes_;
};

void Elements::read(const Array& array, const SourceLocation& where) {
  const auto into = [&]<class T>(T) {
    const std::vector<T> values = array.to_vector<T>(where);
    if (!values.empty()) std::memcpy(bytes_.data(), values.data(), bytes_.size());
  };
  switch (size_of(dtype_)) {
    case 1:
      return is_boolean(dtype_) || dtype_ == DType::u8 ? into(std::uint8_t{}) : into(std::int8_t{});
    case 2:
      if (dtype_ == DType::f16) return into(float16_t());
      if (dtype_ == DType::bf16) return into(bfloat16_t());
      return dtype_ == DType::u16 ? into(std::uint16_t{}) : into(std::int16_t{});
    case 4:
      if (dtype_ == DType::f32) return into(float{});
      return dtype_ == DType::u32 ? into(std::uint32_t{}) : into(std::int32_t{});
    case 16:
      return into(std::complex<double>());
    default:
      if (dtype_ == DType::c64) return into(std::complex<float>());
      if (dtype_ == DType::f64) return into(double{});
      return dtype_ == DType::u64 ? into(std::uint64_t{}) : into(std::int64_t{});
  }
}

using Format = std::function<std::string(std::size_t)>;

Format format_for(const Elements& elements) {
  if (is_boolean(elements.dtype())) {
    return [&elements](std::size_t i) {
      return std::string(elements.bits(i) != 0 ? " True" : "False");
    };
  }
  if (is_inexact(elements.dtype())) {
    const DType part = real_dtype(elements.dtype());
    const frontend::FloatFormat real(part, elements.shown_floats(false), elements.options());
    if (!is_complex(elements.dtype())) {
      return [&elements, real](std::size_t i) { return real(elements.floating(i)); };
    }
    const frontend::FloatFormat imaginary(part, elements.shown_floats(true), elements.options(),
                                          frontend::Plus::shown);
    return [&elements, real, imaginary](std::size_t i) {
      std::string text = imaginary(elements.floating(i, true));
      text.insert(text.find_last_not_of(' ') + 1, "j");
      return real(elements.floating(i)) + text;
    };
  }
  const auto text = [&elements](std::size_t i) {
    return ir::literal_text(elements.dtype(), elements.bits(i));
  };
  std::size_t width = 0;
  elements.visit_shown([&](std::size_t i) { width = std::max(width, text(i).size()); });
  return [text, width](std::size_t i) { return fmt::format("{:>{}}", text(i), width); };
}

/// Arranges elements in nested brackets, as numpy's _formatArray.
class Layout {
 public:
  Layout(const Elements& elements, const Format& format, std::string_view separator)
      : elements_(elements), format_(format), separator_(separator) {}

  std::string text(std::size_t axis, std::size_t base, const std::string& indent, int width) const {
    const std::size_t left = elements_.shape().size() - axis;
    if (left == 0) return format_(base);
    const std::string body =
        left == 1 ? row(axis, base, indent, width) : rows(axis, base, indent, width);
    return "[" + body.substr(indent.size()) + "]";
  }

 private:
  bool has_gap(std::size_t axis) const {
    return elements_.summarised() &&
           elements_.shape()[axis] > 2 * std::int64_t{elements_.options().edgeitems};
  }
  std::size_t offset(std::size_t axis, std::size_t base, std::int64_t i) const {
    return base * static_cast<std::size_t>(elements_.shape()[axis]) + static_cast<std::size_t>(i);
  }
  std::string_view bare_separator() const {
    return separator_.substr(0, separator_.find_last_not_of(' ') + 1);
  }

  /// The last axis: words that wrap at the end of the line.
  std::string row(std::size_t axis, std::size_t base, const std::string& indent, int width) const {
    const int room = width - std::max(static_cast<int>(bare_separator().size()), 1);
    std::string done, line = indent;
    const auto add = [&](const std::string& word) {
      if (static_cast<int>(line.size() + word.size()) > room && line.size() > indent.size()) {
        done += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
        line = indent;
      }
      line += word;
    };
    const std::vector<std::int64_t> indices = elements_.shown(axis);
    for (std::size_t k = 0; k < indices.size(); ++k) {
      if (has_gap(axis) && k == static_cast<std::size_t>(elements_.options().edgeitems)) {
        add("...");
        line += separator_;
      }
      add(format_(offset(axis, base, indices[k])));
      if (k + 1 < indices.size()) line += separator_;
    }
    return done + line;
  }

  std::string rows(std::size_t axis, std::size_t base, const std::string& indent, int width) const {
    const std::size_t left = elements_.shape().size() - axis;
    const std::string line_end = std::string(bare_separator()) + std::string(left - 1, '\n');
    std::string body;
    const std::vector<std::int64_t> indices = elements_.shown(axis);
    for (std::size_t k = 0; k < indices.size(); ++k) {
      if (has_gap(axis) && k == static_cast<std::size_t>(elements_.options().edgeitems)) {
        body.append(indent).append("...").append(line_end);
      }
      body.append(indent).append(
          text(axis + 1, offset(axis, base, indices[k]), indent + " ", width - 1));
      if (k + 1 < indices.size()) body += line_end;
    }
    return body;
  }

  const Elements& elements_;
  const Format& format_;
  std::string_view separator_;
};

std::string layout(const Elements& elements, std::string_view separator, std::size_t prefix,
                   int width) {
  for (std::int64_t extent : elements.shape()) {
    if (extent == 0) return "[]";
  }
  const Format format = format_for(elements);
  return Layout(elements, format, separator).text(0, 0, std::string(prefix + 1, ' '), width);
}

std::string text_of_scalar(const Elements& elements) {
  if (is_complex(elements.dtype())) {
    return frontend::complex_scalar_text(real_dtype(elements.dtype()), elements.floating(0),
                                         elements.floating(0, true));
  }
  if (is_floating(elements.dtype())) {
    return frontend::scalar_text(elements.dtype(), elements.floating(0));
  }
  if (is_boolean(elements.dtype())) return elements.bits(0) != 0 ? "True" : "False";
  return ir::literal_text(elements.dtype(), elements.bits(0));
}

}  // namespace

void set_print_options(const PrintOptions& options) {
  const std::lock_guard lock(options_mutex);
  current_options = options;
}

PrintOptions print_options() {
  const std::lock_guard lock(options_mutex);
  return current_options;
}

std::string to_string(const Array& array, SourceLocation where) {
  const PrintOptions options = print_options();
  const Elements elements(array, options, where);
  if (elements.shape().empty()) return text_of_scalar(elements);
  return layout(elements, " ", 0, options.linewidth);
}

std::string repr(const Array& array, SourceLocation where) {
  const PrintOptions options = print_options();
  const Elements elements(array, options, where);
  const DType dtype = elements.dtype();
  const bool empty = array.size() == 0;
  std::string text;
  if (elements.shape().empty()) {
    text = is_inexact(dtype) ? format_for(elements)(0) : text_of_scalar(elements);
  } else {
    text = layout(elements, ", ", 6, options.linewidth - 1);
  }
  const bool implied = !empty && (is_boolean(dtype) || dtype == DType::i64 || dtype == DType::f64 ||
                                  dtype == DType::c128);
  const bool show_shape = elements.summarised() || (empty && elements.shape() != Shape{0});
  std::string tail;
  if (show_shape) {
    tail = fmt::format("shape=({}{})", fmt::join(elements.shape(), ", "),
                       elements.shape().size() == 1 ? "," : "");
  }
  if (!implied) {
    tail += (tail.empty() ? "" : ", ") + fmt::format("dtype={}", numpy_name_of(dtype));
  }
  if (tail.empty()) return "array(" + text + ")";
  std::string result = "array(" + text + ",";
  const std::size_t line = result.size() - (result.rfind('\n') + 1);
  const bool wraps = static_cast<int>(line + tail.size() + 2) > options.linewidth;
  return result + (wraps ? "\n      " : " ") + tail + ")";
}

std::ostream& operator<<(std::ostream& stream, const Array& array) {
  return stream << to_string(array);
}

}  // namespace heddle
