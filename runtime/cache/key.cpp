#include "runtime/cache/key.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace heddle::runtime::cache {

namespace {

/// Removes "LENGTH:" and that many bytes from the front of `text`.
std::optional<std::string_view> take_field(std::string_view& text) {
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  const auto digits = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || digits >= text.size() || text[digits] != ':') return std::nullopt;
  text.remove_prefix(digits + 1);
  if (text.size() < length) return std::nullopt;
  const std::string_view field = text.substr(0, length);
  text.remove_prefix(length);
  return field;
}

}  // namespace

KeyBuilder& KeyBuilder::add(std::string_view name, std::string_view value) {
  text_ += fmt::format("{}:{}={}:{}\n", name.size(), name, value.size(), value);
  return *this;
}

KeyBuilder& KeyBuilder::add(std::string_view name, std::int64_t value) {
  return add(name, fmt::format("{}", value));
}

Key KeyBuilder::finish() const { return {ir::Hasher().bytes(text_).finish(), text_}; }

std::vector<std::pair<std::string, std::string>> parse_key(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> out;
  while (!text.empty()) {
    const auto name = take_field(text);
    if (!name || !text.starts_with('=')) return {};
    text.remove_prefix(1);
    const auto value = take_field(text);
    if (!value || !text.starts_with('\n')) return {};
    text.remove_prefix(1);
    out.emplace_back(*name, *value);
  }
  return out;
}

}  // namespace heddle::runtime::cache
