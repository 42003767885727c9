#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/base/formatting.h"

namespace heddle::codegen {

/// Source text, line by line, indented by the number of open blocks.
class Writer {
 public:
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_.append((names_.size() - 1) * 2, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    text_ += '\n';
  }
  /// A line without indentation, such as a #pragma.
  void directive(std::string_view text) {
    text_ += text;
    text_ += '\n';
  }
  template <class... Arguments>
  void open(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    line("{} {{", fmt::format(format, std::forward<Arguments>(arguments)...));
    names_.emplace_back();
  }
  void open_block() {
    line("{{");
    names_.emplace_back();
  }
  void close() { close_with(""); }
  void close_with(std::string_view end) {
    names_.pop_back();
    line("}}{}", end);
  }

  void close_and_else() {
    names_.back().clear();
    text_.append((names_.size() - 2) * 2, ' ');
    text_ += "} else {\n";
  }

  /// The name given to `key` in a block that is still open; empty if there is none.
  std::string_view name_of(std::uint32_t key) const {
    for (const auto& block : names_) {
      if (const auto found = block.find(key); found != block.end()) return found->second;
    }
    return {};
  }
  /// Sets the name of `key` until the innermost block closes.
  void set_name(std::uint32_t key, std::string name) {
    names_.back().emplace(key, std::move(name));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::vector<std::unordered_map<std::uint32_t, std::string>> names_{1};  ///< per open block
};

}  // namespace heddle::codegen
