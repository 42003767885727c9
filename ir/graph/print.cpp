#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <type_traits>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/base/formatting.h"
#include "ir/graph/graph.h"
#include "ir/types/fields.h"
#include "ir/types/literal.h"

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

std::string value_text(const AttributeValue& value) {
  return std::visit(
      []<class T>(const T& one) -> std::string {
        if constexpr (std::is_same_v<T, std::string>) {
          return quoted_name(one);
        } else if constexpr (std::is_same_v<T, DType>) {
          return std::string(heddle::name_of(one));
        } else if constexpr (std::is_same_v<T, double>) {
          return literal_text(DType::f64, std::bit_cast<std::uint64_t>(one));
        } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
          return fmt::format("[{}]", fmt::join(one, ","));
        } else if constexpr (std::is_same_v<T, Dims>) {
          return to_string(Shape(one));
        } else {
          return fmt::format("{}", one);
        }
      },
      value);
}

class Printer {
 public:
  Printer(const Graph& graph, const PrintOptions& options, std::size_t indent = 0)
      : graph_(graph), options_(options), indent_(indent) {
    number_values();
  }

  /// "func @name(...) -> ... {", the nodes, and "}".
  std::string function() {
    append("func @{}", is_plain_name(graph_.name) ? graph_.name : quoted_name(graph_.name));
    print_signature();
    print_facts();
    print_body();
    append("\n");
    return std::move(text_);
  }

  /// " region (...) -> ... {", the nodes, and "}".
  std::string region() {
    append(" region ");
    print_signature();
    print_body();
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
      if (!has_line(id)) continue;
      print_node(id);
      add(id);
      for (const ValueId further : further_results(id)) {
        append("%{} = result {} of %{} : {}", number(further), graph_.attributes(further).index,
               number(id), to_string(graph_.type(further)));
        add(further);
      }
    }
    return result;
  }

 private:
  static constexpr std::uint32_t unprinted = std::numeric_limits<std::uint32_t>::max();

  template <class... Arguments>
  void append(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  /// Numbers the parameters, then the nodes that outputs need, in graph order.
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
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
      const ValueId id{i};
      if (reached[i] && graph_.op(id) == Op::result)
        further_results_[index_of(graph_.operands(id)[0])].push_back(id);
    }
    std::uint32_t next = 0;
    for (ValueId parameter : graph_.parameters()) numbers_[index_of(parameter)] = next++;
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
      if (!reached[i] || numbers_[i] != unprinted) continue;
      numbers_[i] = next++;
      for (const ValueId further : further_results(ValueId{i}))
        numbers_[index_of(further)] = next++;
    }
  }

  /// The further results of a call that are used, in the order of their numbers.
  std::span<const ValueId> further_results(ValueId call) const {
    const auto found = further_results_.find(index_of(call));
    if (found == further_results_.end()) return {};
    return found->second;
  }

  bool has_line(ValueId id) const {
    return numbers_[index_of(id)] != unprinted && graph_.op(id) != Op::parameter &&
           graph_.op(id) != Op::result;
  }

  std::uint32_t number(ValueId id) const { return numbers_[index_of(id)]; }

  void print_signature() {
    append("(");
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
  }

  void print_body() {
    append(" {{\n");
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
      const ValueId id{i};
      if (!has_line(id)) continue;
      append("{:{}}", "", indent_ + 2);
      print_node(id);
      const Location& location = graph_.node(id).location;
      if (options_.locations && location.file != nullptr) append("  // {}", location.to_string());
      append("\n");
    }
    append("{:{}}return", "", indent_ + 2);
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      append("{} %{}", i > 0 ? "," : "", number(graph_.outputs[i]));
    }
    append("\n{:{}}}}", "", indent_);
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
    append("%{}", number(id));
    if (graph_.op(id) == Op::call) return print_call(id);
    append(" = {}", info(graph_.op(id)).name);
    print_operands(id);
    print_attributes(graph_.op(id), graph_.attributes(id));
    append(" : {}", to_string(graph_.type(id)));
  }

  /// Unused results are printed as "_".
  void print_call(ValueId id) {
    const std::vector<Type>& types = graph_.result_types(id);
    const CallData& call = *graph_.attributes(id).call;
    for (std::size_t i = 1; i < types.size(); ++i) {
      const auto further = std::ranges::find(further_results(id), i, [&](ValueId one) {
        return std::size_t{graph_.attributes(one).index};
      });
      if (further == further_results(id).end()) {
        append(", _");
      } else {
        append(", %{}", number(*further));
      }
    }
    append(" = call {}", call.op->name);
    print_operands(id);
    const std::string attributes = attributes_text(call);
    if (!attributes.empty()) append(" {{{}}}", attributes);
    for (std::size_t i = 0; i < types.size(); ++i)
      append("{} {}", i == 0 ? " :" : ",", to_string(types[i]));
    for (const Region& region : call.regions)
      text_ += Printer(*region.graph, options_, indent_ + 2).region();
  }

  void print_operands(ValueId id) {
    const char* separator = " ";
    for (ValueId operand : graph_.operands(id)) {
      append("{}%{}", separator, number(operand));
      separator = ", ";
    }
  }

  /// The result type contains the dtype of cast and the shape of reshape, so they are not printed
  /// again.
  void print_attributes(Op op, const Attributes& attributes) {
    const AttributeFields fields = fields_of(op);
    if (fields.bits) append(" {}", literal_text(attributes.dtype, attributes.bits));
    if (fields.axes) append(" axes=[{}]", fmt::join(attributes.axes, ","));
    if (fields.keepdims && attributes.keepdims) append(" keepdims");
    if (fields.region) {
      append(" starts={} steps={}", to_string(Shape(attributes.starts)),
             to_string(Shape(attributes.steps)));
    }
    if (op == Op::slice_update) append(" shape={}", to_string(attributes.shape));
  }

  const Graph& graph_;
  PrintOptions options_;
  std::size_t indent_;  ///< of the line where the text begins
  std::vector<std::uint32_t> numbers_;
  std::unordered_map<std::uint32_t, std::vector<ValueId>>
      further_results_;  ///< by the call's node index
  std::string text_;
};

}  // namespace

namespace {

/// Compares doubles by their bits, as hashing does.
bool is_same(const AttributeValue& a, const AttributeValue& b) {
  const auto* const x = std::get_if<double>(&a);
  const auto* const y = std::get_if<double>(&b);
  if (x == nullptr || y == nullptr) return a == b;
  return std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(*y);
}

}  // namespace

std::string attributes_text(const CallData& call) {
  std::string text;
  for (std::size_t i = 0; i < call.attributes.size(); ++i) {
    const CallAttribute& known = call.op->attributes[i];
    if (is_same(call.attributes[i], known.initial) && !known.is_axis) continue;
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", known.name,
                        value_text(call.attributes[i]));
  }
  return text;
}

std::string print(const Graph& graph, const PrintOptions& options) {
  return Printer(graph, options).function();
}

std::vector<PrintedNode> print_nodes(const Graph& graph) { return Printer(graph, {}).nodes(); }

}  // namespace heddle::ir
