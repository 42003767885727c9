#pragma once

#include <string_view>

namespace heddle::ir {

/// Whether a character may be part of a name of C++.
inline bool is_word_part(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Whether the text has the word, not as a part of a longer one.
inline bool mentions(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_word_part(text[at - 1]);
    if (begins && (end == text.size() || !is_word_part(text[end]))) return true;
  }
  return false;
}

/// Whether the text is a name of C++.
inline bool is_identifier(std::string_view text) {
  for (const char c : text) {
    if (!is_word_part(c)) return false;
  }
  return !text.empty() && (text[0] < '0' || text[0] > '9');
}

}  // namespace heddle::ir
