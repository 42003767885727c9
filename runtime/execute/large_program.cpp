#include "runtime/execute/large_program.h"

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace heddle::runtime {

namespace {

struct LineCount {
  ir::Location location;
  std::size_t nodes = 0;
};

/// The line that recorded most nodes; the first of these, if there are several.
LineCount busiest_line(const ir::Graph& graph) {
  std::map<std::pair<std::string_view, std::uint32_t>, std::size_t> counts;
  LineCount most;
  const auto visit = [&](const auto& function) {
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
      const ir::Location& location = graph.node(ir::ValueId(i)).location;
      if (location.file != nullptr) function(location, counts[{location.file, location.line}]);
    }
  };
  visit([](const ir::Location&, std::size_t& count) { ++count; });
  visit([&](const ir::Location& location, std::size_t count) {
    if (count > most.nodes) most = {location, count};
  });
  return most;
}

}  // namespace

std::string describe_large_program(const ir::Graph& graph) {
  const LineCount busiest = busiest_line(graph);
  const std::string where =
      busiest.nodes > 1
          ? fmt::format(", {} of them recorded at {}", busiest.nodes, busiest.location.to_string())
          : "";
  return fmt::format(
      "{} is a program of {} nodes{}. A loop around operations is unrolled; fori_loop(lower, "
      "upper, "
      "body, carry) keeps it as one operation.",
      graph.name, graph.size(), where);
}

}  // namespace heddle::runtime
