#include "passes/report/difference.h"

#include <algorithm>
#include <unordered_map>

namespace heddle::passes {

namespace {

/// A node for comparison. `key` is its text without value numbers.
struct Line {
  std::uint32_t number;
  std::string key;
  ir::Hash128 hash;
  std::vector<std::uint32_t> operands;
};

std::string without_numbers(const std::string& text) {
  std::string key;
  for (std::size_t i = 0; i < text.size(); ++i) {
    key += text[i];
    if (text[i] != '%') continue;
    while (i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9') ++i;
  }
  return key;
}

std::vector<Line> lines_of(const ir::Graph& graph) {
  const std::vector<ir::PrintedNode> nodes = ir::print_nodes(graph);
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  for (const ir::PrintedNode& node : nodes) numbers[ir::index_of(node.id)] = node.number;
  std::vector<Line> lines;
  for (const ir::PrintedNode& node : nodes) {
    Line line{node.number, without_numbers(node.text), graph.node(node.id).hash, {}};
    for (const ir::ValueId operand : graph.operands(node.id))
      line.operands.push_back(numbers.at(ir::index_of(operand)));
    lines.push_back(std::move(line));
  }
  return lines;
}

class Alignment {
 public:
  Alignment(std::vector<Line> before, std::vector<Line> after)
      : before_(std::move(before)), after_(std::move(after)) {}

  std::vector<ChangedLine> run() {
    const std::size_t least = std::min(before_.size(), after_.size());
    std::size_t first = 0, behind = 0;
    while (first < least && before_[first].key == after_[first].key) keep(first, first), ++first;
    while (behind < least - first && last(before_, behind).key == last(after_, behind).key)
      ++behind;
    align(first, before_.size() - behind, after_.size() - behind);
    for (; behind > 0; --behind) keep(before_.size() - behind, after_.size() - behind);
    mark_rewired();
    return std::move(result_);
  }

 private:
  /// Limit on the number of pairs of lines that are compared.
  static constexpr std::size_t most_pairs = 4'000'000;

  static const Line& last(const std::vector<Line>& lines, std::size_t behind) {
    return lines[lines.size() - 1 - behind];
  }

  void keep(std::size_t b, std::size_t a) {
    result_.push_back({before_[b].number, after_[a].number});
  }
  void remove(std::size_t b) { result_.push_back({before_[b].number, std::nullopt}); }
  void add(std::size_t a) { result_.push_back({std::nullopt, after_[a].number}); }

  /// The heaviest common subsequence. A pair of nodes with the same op weighs 1; if all that they
  /// depend on is equal as well, 2.
  void align(std::size_t first, std::size_t before_end, std::size_t after_end) {
    const std::size_t rows = before_end - first, columns = after_end - first;
    if (rows * columns > most_pairs) {
      for (std::size_t i = first; i < before_end; ++i) remove(i);
      for (std::size_t i = first; i < after_end; ++i) add(i);
      return;
    }
    const auto weight = [&](std::size_t b, std::size_t a) -> std::uint32_t {
      const Line &one = before_[first + b], &other = after_[first + a];
      return one.key != other.key ? 0 : one.hash == other.hash ? 2 : 1;
    };
    std::vector<std::uint32_t> best((rows + 1) * (columns + 1));
    const auto at = [&](std::size_t b, std::size_t a) -> std::uint32_t& {
      return best[b * (columns + 1) + a];
    };
    for (std::size_t b = rows; b-- > 0;) {
      for (std::size_t a = columns; a-- > 0;) {
        const std::uint32_t pair = weight(b, a);
        at(b, a) = std::max({at(b + 1, a), at(b, a + 1), pair > 0 ? pair + at(b + 1, a + 1) : 0});
      }
    }
    std::size_t b = 0, a = 0;
    while (b < rows || a < columns) {
      const std::uint32_t pair = b < rows && a < columns ? weight(b, a) : 0;
      if (pair > 0 && at(b, a) == pair + at(b + 1, a + 1)) {
        keep(first + b++, first + a++);
      } else if (a == columns || (b < rows && at(b, a) == at(b + 1, a))) {
        remove(first + b++);
      } else {
        add(first + a++);
      }
    }
  }

  void mark_rewired() {
    std::unordered_map<std::uint32_t, std::uint32_t> became;
    for (const ChangedLine& line : result_) {
      if (line.before && line.after) became[*line.before] = *line.after;
    }
    for (ChangedLine& line : result_) {
      if (!line.before || !line.after) continue;
      std::vector<std::uint32_t> expected;
      for (const std::uint32_t operand : before_[*line.before].operands) {
        const auto found = became.find(operand);
        expected.push_back(found != became.end() ? found->second : ~0u);
      }
      line.rewired = expected != after_[*line.after].operands;
    }
  }

  std::vector<Line> before_, after_;  ///< in the order of their numbers
  std::vector<ChangedLine> result_;
};

}  // namespace

std::vector<ChangedLine> difference(const ir::Graph& before, const ir::Graph& after) {
  return Alignment(lines_of(before), lines_of(after)).run();
}

}  // namespace heddle::passes
