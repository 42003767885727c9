#include "tests/fuzz/control_traits.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "ir/calls/calls.h"
#include "ir/calls/control.h"
#include "tests/cases/case.h"

namespace heddle::test {
namespace {

using ir::Op;
using ir::ValueId;

constexpr const char* names[] = {loop_or_branch,  "nested",        "no steps",   "reversed steps",
                                 "moving slice",  "moving update", "kept carry", "moved carry",
                                 "doubled carry", "stacked",       "sequence"};

bool moves(const ir::Dims& starts, ir::SymbolId counter) {
  return std::ranges::any_of(starts, [&](ir::Dim start) {
    std::vector<ir::SymbolId> symbols;
    start.collect_symbols(symbols);
    return std::ranges::find(symbols, counter) != symbols.end();
  });
}

void add_body_traits(const ir::Graph& body, std::optional<ir::SymbolId> counter,
                     std::set<std::string>& traits) {
  const std::vector<bool> needed = needed_nodes(body);
  for (std::uint32_t i = 0; i < body.size(); ++i) {
    const ValueId id{i};
    if (!needed[i]) continue;
    const ir::Attributes& attributes = body.attributes(id);
    if (body.op(id) == Op::call && !attributes.call->regions.empty()) traits.insert("nested");
    if (!counter || !moves(attributes.starts, *counter)) continue;
    traits.insert(body.op(id) == Op::slice ? "moving slice" : "moving update");
  }
}

/// Of the carries, which are the body's parameters from `first` on.
void add_carry_traits(const ir::Graph& body, std::size_t first, std::size_t carries,
                      std::set<std::string>& traits) {
  const auto begin = body.outputs.begin(), end = begin + static_cast<std::ptrdiff_t>(carries);
  for (std::size_t i = 0; i < carries; ++i) {
    const ValueId output = body.outputs[i];
    if (std::count(begin, end, output) > 1) traits.insert("doubled carry");
    if (body.op(output) != Op::parameter) continue;
    const std::size_t source = body.attributes(output).index;
    if (source == first + i) traits.insert("kept carry");
    if (source != first + i && source >= first && source < first + carries)
      traits.insert("moved carry");
  }
}

}  // namespace

std::span<const char* const> control_traits() { return names; }

void add_control_traits(const ir::CallData& call, const ir::SymbolBindings& bindings,
                        std::set<std::string>& traits) {
  if (call.regions.empty()) return;
  traits.insert(loop_or_branch);
  const std::optional<ir::SymbolId> counter = ir::scan_counter(call);
  for (const ir::Region& region : call.regions) add_body_traits(*region.graph, counter, traits);
  if (call.op == &ir::calls::switch_case()) return;
  const ir::Region& body = call.regions.back();
  const auto carries = static_cast<std::size_t>(call.get<std::int64_t>("carries"));
  std::size_t sequences = 0;
  if (counter) {
    sequences = static_cast<std::size_t>(call.get<std::int64_t>("sequences"));
    if (sequences > 0) traits.insert("sequence");
    if (body.results.size() > carries) traits.insert("stacked");
    if (call.get<bool>("reverse")) traits.insert("reversed steps");
    if (ir::scan_length(call).evaluate(bindings) == 0) traits.insert("no steps");
  }
  add_carry_traits(*body.graph, body.parameters.size() - sequences - carries, carries, traits);
}

}  // namespace heddle::test
