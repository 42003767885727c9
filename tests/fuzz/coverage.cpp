#include "tests/fuzz/coverage.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "ir/calls/calls.h"
#include "passes/calls/lowering.h"
#include "passes/pipeline/pipeline.h"
#include "tests/fuzz/recorder.h"

namespace heddle::test {
namespace {

using ir::Dim;
using ir::Op;
using ir::ValueId;

std::string rank_name(std::size_t rank) { return fmt::format("rank {}", rank); }

void add_extent(Dim extent, const Case& one, std::set<std::string>& traits) {
  const std::int64_t size = extent.evaluate(one.bindings);
  if (!extent.is_constant()) traits.insert("symbolic extent");
  if (size == 0) traits.insert("extent 0");
  if (size == 1) traits.insert("extent 1");
  if (size > 1 && size % 2 == 1) traits.insert("odd extent");
}

void add_traits(ValueId id, const Case& one, std::set<std::string>& traits) {
  const ir::Graph& graph = one.graph;
  const ir::Attributes& attributes = graph.attributes(id);
  traits.insert(std::string(name_of(graph.dtype(id))));
  traits.insert(rank_name(graph.shape(id).size()));
  for (const Dim extent : graph.shape(id)) add_extent(extent, one, traits);
  for (const Dim size : attributes.steps) {
    const std::int64_t step = size.evaluate(one.bindings);
    if (step < 0) traits.insert("negative step");
    if (step > 1 || step < -1) traits.insert("wide step");
  }
  const bool offset = std::ranges::any_of(attributes.starts, [](Dim start) { return start != 0; });
  if (offset) traits.insert("offset");
  if (graph.op(id) != Op::parameter) return;
  const std::vector<bool>& aligned = one.options.aligned;
  const std::vector<bool>& donated = one.options.donated;
  if (attributes.scalar) traits.insert("scalar input");
  if (attributes.index < aligned.size() && !aligned[attributes.index]) traits.insert("unaligned");
  if (attributes.index < donated.size() && donated[attributes.index]) traits.insert("donated");
}

std::string row(const std::map<std::string, std::size_t>& counts, std::size_t columns) {
  std::string text;
  std::size_t place = 0;
  for (const auto& [name, count] : counts) {
    text += place++ % columns == 0 ? "\n " : "";
    text += fmt::format(" {:>16} {:<5}", name, count);
  }
  return text + "\n";
}

}  // namespace

Coverage::Coverage() {
  for (int op = 0; op < ir::op_count; ++op) {
    if (!ir::is_of_call(static_cast<Op>(op)))
      ops_[std::string(ir::info(static_cast<Op>(op)).name)] = 0;
  }
  for (const ir::CallOp* const op : ir::call_ops()) {
    // The interpreter cannot compute users' functions (tests/numerics/user_functions.cpp).
    if (op->name.starts_with("user.")) continue;
    // Exchanges need other processes (tests/python/test_distributed.py).
    if (op->name.starts_with("distributed.")) continue;
    // Random matrices are short, and rarely solved for the identity (tests/numerics/gram.cpp,
    // small_matrices.cpp; tests/passes/long_products.cpp).
    if (op->name == "linalg.gram_parts" || op->name == "linalg.inverse") continue;
    auto& counts = passes::lowering_of(*op).only_lowered ? lowered_ : ops_;
    counts[std::string(op->name)] = 0;
  }
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    if ((ir::all_dtypes & ir::set_of(dtype)) != 0) traits_[std::string(name_of(dtype))] = 0;
  }
  for (std::size_t rank = 0; rank <= Recorder::most_axes; ++rank) traits_[rank_name(rank)] = 0;
  for (const char* name :
       {"symbolic extent", "extent 0", "extent 1", "odd extent", "negative step", "wide step",
        "offset", "scalar input", "unaligned", "donated", "several outputs", "strict"}) {
    traits_[name] = 0;
  }
  for (const char* const name : control_traits()) controls_[name] = 0;
}

void Coverage::count(const Case& one) {
  const std::vector<bool> needed = needed_nodes(one.graph);
  std::set<std::string> ops, traits, controls;
  std::size_t length = 0;
  for (std::size_t i = 0; i < one.graph.size(); ++i) {
    const ValueId id{static_cast<std::uint32_t>(i)};
    if (!needed[i]) continue;
    const Op op = one.graph.op(id);
    if (op != Op::parameter && op != Op::constant) ++length;
    if (op != Op::result) ops.insert(std::string(one.graph.op_name(id)));
    add_traits(id, one, traits);
    if (op == Op::call) add_control_traits(*one.graph.attributes(id).call, one.bindings, controls);
  }
  if (one.graph.outputs.size() > 1) traits.insert("several outputs");
  if (one.options.strict) traits.insert("strict");
  for (const std::string& name : ops) ++ops_.at(name);
  for (const std::string& name : traits) ++traits_.at(name);
  for (const std::string& name : controls) ++controls_.at(name);
  lengths_.push_back(length);
}

void Coverage::count_lowered(const Case& one, const ir::Target& target) {
  passes::PlanOptions options{target, {}, {}, {}};
  options.strict = one.options.strict;
  const ir::Graph lowered = passes::run_graph_passes(one.graph, options);
  const std::vector<bool> needed = needed_nodes(lowered);
  std::set<std::string> ops;
  for (std::uint32_t i = 0; i < lowered.size(); ++i) {
    if (needed[i]) ops.insert(std::string(lowered.op_name(ValueId(i))));
  }
  for (auto& [name, count] : lowered_) count += ops.contains(name) ? 1 : 0;
}

std::string Coverage::table() const {
  constexpr std::size_t columns = 5;
  if (lengths_.empty()) return "";
  const auto [least, most] = std::ranges::minmax(lengths_);
  return fmt::format(
      "of {} random graphs of {} to {} ops, so many have the op{}lowered for a GPU{}and the "
      "trait{}and in loops and branches{}",
      graphs(), least, most, row(ops_, columns), row(lowered_, columns), row(traits_, columns),
      row(controls_, columns));
}

std::vector<std::string> Coverage::rarer_than(std::size_t least, std::size_t least_lowered,
                                              std::size_t least_control) const {
  std::vector<std::string> names;
  const auto add = [&](const std::map<std::string, std::size_t>& counts, std::size_t limit) {
    for (const auto& [name, count] : counts) {
      if (count < limit) names.push_back(fmt::format("{} ({})", name, count));
    }
  };
  add(ops_, least);
  add(lowered_, least_lowered);
  add(traits_, least);
  add(controls_, least_control);
  return names;
}

}  // namespace heddle::test
