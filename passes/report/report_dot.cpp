#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "ir/base/formatting.h"
#include "passes/report/report.h"

namespace heddle::passes {

namespace {

/// Fill colours of groups, used in turn.
constexpr std::array<const char*, 8> colours = {"#cfe3f5", "#fbe0c4", "#d3edd0", "#f6d3d5",
                                                "#e2d9f0", "#cdeee9", "#f3eab5", "#f5d6e8"};

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

class Dot {
 public:
  explicit Dot(const Report& report) : report_(report), graph_(report.graphs.back()) {}

  std::string run() {
    add("digraph {} {{\n", quoted(report_.program));
    add("  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"monospace\"];\n");
    add("  graph [fontname=\"monospace\", rankdir=TB];\n");
    for (const ReportGroup& group : report_.groups) cluster(group);
    for (const ReportNode& node : graph_.nodes) {
      if (!drawn_.contains(node.number)) this->node(node.number, "  ");
    }
    for (const ReportNode& node : graph_.nodes) {
      for (const std::uint32_t operand : node.operands)
        add("  n{} -> n{};\n", operand, node.number);
    }
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      add("  out{} [label=\"output {}\", shape=plaintext, style=\"\"];\n", i, i);
      add("  n{} -> out{};\n", graph_.outputs[i], i);
    }
    return text_ + "}\n";
  }

 private:
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  /// A node that several groups compute is drawn in the group that runs first.
  void cluster(const ReportGroup& group) {
    add("  subgraph cluster_{} {{\n    label={};\n", group.id, quoted(title(group)));
    add("    style=\"rounded,filled\";\n    color=\"{0}\";\n", colours[group.id % colours.size()]);
    for (const std::uint32_t member : group.members) {
      if (!drawn_.contains(member)) node(member, "    ");
    }
    add("  }}\n");
  }

  std::string title(const ReportGroup& group) const {
    if (!group.description.empty()) return fmt::format("group {}: {}", group.id, group.description);
    if (group.library) return fmt::format("group {}: library", group.id);
    if (group.owner) return fmt::format("group {}: in group {}", group.id, *group.owner);
    if (group.kernels.empty()) return fmt::format("group {}", group.id);
    return fmt::format("group {}: {}", group.id, report_.kernels[group.kernels.back()].name);
  }

  void node(std::uint32_t number, const char* indent) {
    const ReportNode& node = graph_.nodes[number];
    drawn_.insert(number);
    const std::string where = node.location.to_string();
    add("{}n{} [label={}];\n", indent, number,
        quoted(fmt::format("%{} {}\n{}{}{}", number, node.label, node.type,
                           where.empty() ? "" : "\n", where)));
  }

  const Report& report_;
  const ReportGraph& graph_;
  std::set<std::uint32_t> drawn_;
  std::string text_;
};

}  // namespace

std::string to_dot(const Report& report) { return Dot(report).run(); }

}  // namespace heddle::passes
