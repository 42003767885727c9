#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/fields.h"
#include "ir/graph.h"
#include "ir/literal.h"

namespace heddle::ir {
namespace {

bool is_plain_name(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  };
  return !name.empty() && std::ranges::all_of(name, is_plain);
}

std::string quoted_name(std::string_view name) {
  std::string text = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
  return text + '"';
}

class Printer {
 public:
  Printer(const Graph& graph, const PrintOptions& options) : graph_(graph), options_(options) {
    number_values();
  }

  std::string run() {
    print_header();
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
      const ValueId id{i};
      if (numbers_[i] == unprinted || graph_.op(id) == Op::parameter) continue;
      append("  ");
      print_node(id);
      const Location& location = graph_.node(id).location;
      if (options_.locations && location.file != nullptr) append("  // {}", location.to_string());
      append("\n");
    }
    append("  return");
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      append("{} %{}", i > 0 ? "," : "", number(graph_.outputs[i]));
    }
    append("\n}}\n");
    return std::move(text_);
  }

  std::vector<PrintedNode> nodes() {
    std::vector<PrintedNode> result;
    const auto add = [&](ValueId id) {
      result.push_back({id, number(id), std::move(text_)});
      text_.clear();
    };
    for (const ValueId parameter : graph_.parameters()) {
      print_parameter(parameter);
      add(parameter);
    }
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
      const ValueId id{i};
      if (numbers_[i] == unprinted || graph_.op(id) == Op::parameter) continue;
      print_node(id);
      add(id);
    }
    return result;
  }

 private:
  static constexpr std::uint32_t unprinted = std::numeric_limits<std::uint32_t>::max();

  template <class... Arguments>
  void append(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  /// Parameters first, then what outputs need, in the graph's order.
  void number_values() {
    std::vector<bool> reached(graph_.size());
    for (ValueId output : graph_.outputs) reached[index_of(output)] = true;
    for (std::size_t i = graph_.size(); i-- > 0;) {
      if (!reached[i]) continue;
      for (ValueId operand : graph_.operands(ValueId{static_cast<std::uint32_t>(i)})) {
        reached[index_of(operand)] = true;
      }
    }
    numbers_.assign(graph_.size(), unprinted);
    std::uint32_t next = 0;
    for (ValueId parameter : graph_.parameters()) numbers_[index_of(parameter)] = next++;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      if (reached[i] && numbers_[i] == unprinted) numbers_[i] = next++;
    }
  }

  std::uint32_t number(ValueId id) const { return numbers_[index_of(id)]; }

  void print_header() {
    append("func @{}(", is_plain_name(graph_.name) ? graph_.name : quoted_name(graph_.name));
    for (std::size_t i = 0; i < graph_.parameters().size(); ++i) {
      append("{}", i > 0 ? ", " : "");
      print_parameter(graph_.parameters()[i]);
    }
    append(") -> ");
    const bool single = graph_.outputs.size() == 1;
    if (!single) append("(");
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      append("{}{}", i > 0 ? ", " : "", to_string(graph_.type(graph_.outputs[i])));
    }
    if (!single) append(")");
    print_facts();
    append(" {{\n");
  }

  void print_parameter(ValueId parameter) {
    append("%{}: ", number(parameter));
    if (graph_.attributes(parameter).scalar) {
      append("scalar {}", name_of(graph_.dtype(parameter)));
    } else {
      append("{}", to_string(graph_.type(parameter)));
    }
  }

  void print_facts() {
    const char* separator = " where ";
    for (const SymbolFact& fact : merge_facts(graph_.facts)) {
      const std::string_view name = symbol_name(fact.symbol);
      if (fact.minimum != 0) {
        append("{}{} >= {}", separator, name, fact.minimum);
        separator = ", ";
      }
      if (fact.multiple_of != 1) {
        append("{}{} % {} == 0", separator, name, fact.multiple_of);
        separator = ", ";
      }
    }
  }

  void print_node(ValueId id) {
    append("%{} = {}", number(id), info(graph_.op(id)).name);
    const char* separator = " ";
    for (ValueId operand : graph_.operands(id)) {
      append("{}%{}", separator, number(operand));
      separator = ", ";
    }
    print_attributes(graph_.op(id), graph_.attributes(id));
    append(" : {}", to_string(graph_.type(id)));
  }

  /// The result's type tells the dtype of cast and the shape of reshape, so neither is repeated.
  void print_attributes(Op op, const Attributes& attributes) {
    const AttributeFields fields = fields_of(op);
    if (fields.bits) append(" {}", literal_text(attributes.dtype, attributes.bits));
    if (fields.axes) append(" axes=[{}]", fmt::join(attributes.axes, ","));
    if (fields.keepdims && attributes.keepdims) append(" keepdims");
    if (fields.region) {
      append(" starts={} steps={}", to_string(Shape(attributes.starts)),
             to_string(Shape(attributes.steps)));
    }
    if (fields.precision && attributes.precision != Precision::ieee)
      append(" precision={}", name_of(attributes.precision));
    if (op == Op::slice_update) append(" shape={}", to_string(attributes.shape));
  }

  const Graph& graph_;
  PrintOptions options_;
  std::vector<std::uint32_t> numbers_;
  std::string text_;
};

}  // namespace

std::string print(const Graph& graph, const PrintOptions& options) {
  return Printer(graph, options).run();
}

std::vector<PrintedNode> print_nodes(const Graph& graph) { return Printer(graph, {}).nodes(); }

}  // namespace heddle::ir
