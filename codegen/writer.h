#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>

namespace heddle::codegen {

/// Lines of source text, indented by open blocks.
class Writer {
 public:
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_.append(static_cast<std::size_t>(depth_) * 2, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    text_ += '\n';
  }
  /// A line that stays at the left margin, such as a #pragma.
  void directive(std::string_view text) {
    text_ += text;
    text_ += '\n';
  }
  template <class... Arguments>
  void open(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    line("{} {{", fmt::format(format, std::forward<Arguments>(arguments)...));
    ++depth_;
  }
  void close() {
    --depth_;
    line("}}");
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

}  // namespace heddle::codegen
