#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::test {

/// Reads text by the grammar of Graphviz's DOT, as far as digraphs of nodes, edges, attributes and
/// subgraphs go, and counts what there is.
class DotReader {
 public:
  explicit DotReader(std::string_view text) : text_(text) {}

  /// False where the text is not of the grammar.
  bool read() {
    if (!word("digraph")) return false;
    id();
    if (!block()) return false;
    space();
    return at_ == text_.size();
  }

  int nodes = 0, edges = 0, subgraphs = 0;

 private:
  void space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool symbol(std::string_view wanted) {
    space();
    if (!text_.substr(at_).starts_with(wanted)) return false;
    at_ += wanted.size();
    return true;
  }
  static bool is_plain(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  }
  bool word(std::string_view wanted) {
    const std::size_t before = at_;
    if (id() && text_.substr(last_, wanted.size()) == wanted && at_ - last_ == wanted.size())
      return true;
    at_ = before;
    return false;
  }
  bool id() {
    space();
    last_ = at_;
    if (at_ < text_.size() && text_[at_] == '"') {
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_)
        if (text_[at_] == '\\') ++at_;
      return at_++ < text_.size();
    }
    while (at_ < text_.size() && is_plain(text_[at_])) ++at_;
    return at_ > last_;
  }
  bool attributes() {
    while (symbol("[")) {
      while (!symbol("]")) {
        if (!id() || !symbol("=") || !id()) return false;
        if (!symbol(",")) symbol(";");
      }
    }
    return true;
  }
  bool block() {
    if (!symbol("{")) return false;
    while (!symbol("}")) {
      if (!statement()) return false;
      symbol(";");
    }
    return true;
  }
  bool statement() {
    if (word("subgraph")) {
      ++subgraphs;
      return id() && block();
    }
    const bool defaults = word("node") || word("edge") || word("graph");
    if (defaults) return attributes();
    if (!id()) return false;
    if (symbol("=")) return id();
    bool edge = false;
    while (symbol("->")) {
      if (!id()) return false;
      edge = true;
    }
    ++(edge ? edges : nodes);
    return attributes();
  }

  std::string_view text_;
  std::size_t at_ = 0, last_ = 0;
};

}  // namespace heddle::test
