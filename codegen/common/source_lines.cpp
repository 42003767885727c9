#include "codegen/common/source_lines.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "ir/base/words.h"

namespace heddle::codegen {

namespace {

/// A variable of the generated text: "v12" is kind v, number 12.
struct Variable {
  char kind;
  std::size_t number;
};

std::optional<Variable> variable_of(std::string_view word) {
  Variable variable{word[0], 0};
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data() + 1, end, variable.number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return variable;
}

std::vector<Variable> variables_in(std::string_view line) {
  std::vector<Variable> found;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!ir::is_word_part(line[i])) continue;
    std::size_t end = i;
    while (end < line.size() && ir::is_word_part(line[end])) ++end;
    if (const auto variable = variable_of(line.substr(i, end - i))) found.push_back(*variable);
    i = end;
  }
  return found;
}

/// The position of the "=" that assigns a variable; npos for comparisons and loop headers.
std::size_t assignment_in(std::string_view line) {
  if (line.find("for (") != std::string_view::npos) return std::string_view::npos;
  for (std::size_t i = 1; i + 1 < line.size(); ++i) {
    if (line[i] == '=' && line[i - 1] == ' ' && line[i + 1] == ' ') return i;
  }
  return std::string_view::npos;
}

std::optional<ir::ValueId> node_of(const Variable& variable, const passes::KernelPlan& plan) {
  switch (variable.kind) {
    case 'v':
    case 'x':
    case 'h':
    case 'c':
      if (variable.number < plan.body.size()) return plan.body[variable.number].source;
      break;
    case 'y':
      if (variable.number < plan.stores.size())
        return plan.body[plan.stores[variable.number].value].source;
      break;
    case 'R':
    case 'a':
    case 't':
      if (variable.number < plan.reductions.size()) return plan.reductions[variable.number].source;
      break;
    default:
      break;
  }
  return std::nullopt;
}

/// The node of the assigned variable; for a store, the node of the last variable in the line, which
/// is the stored value.
std::optional<ir::ValueId> node_of(std::string_view line, const passes::KernelPlan& plan) {
  const std::size_t assignment = assignment_in(line);
  if (assignment != std::string_view::npos) {
    for (const Variable& variable : variables_in(line.substr(0, assignment))) {
      if (const auto node = node_of(variable, plan)) return node;
    }
  }
  std::optional<ir::ValueId> last;
  for (const Variable& variable : variables_in(line)) {
    if (const auto node = node_of(variable, plan)) last = node;
  }
  return last;
}

}  // namespace

std::uint32_t body_line(const KernelSource& source) {
  const std::string text = source.text();
  const auto end = text.end() - static_cast<std::ptrdiff_t>(source.body.size());
  return static_cast<std::uint32_t>(std::count(text.begin(), end, '\n')) + 1;
}

std::vector<LineNode> source_lines(const KernelSource& source, const passes::KernelPlan& plan) {
  std::vector<LineNode> lines;
  if (!plan.has_loops()) return lines;
  std::uint32_t number = body_line(source);
  std::string_view rest = source.body;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    // Parameter names p<k>, n<k> and s<k> in a signature have no node.
    if (const auto node = node_of(line, plan)) lines.push_back({number, *node});
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    ++number;
  }
  return lines;
}

}  // namespace heddle::codegen
