#include "frontend/graph/graph_walk.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "frontend/graph/depth_first.h"
#include "frontend/graph/graph_builder.h"
#include "frontend/graph/hash_combiner.h"
#include "ir/graph/generalize.h"
#include "ir/types/fields.h"

namespace heddle::frontend {
namespace {

constexpr std::uint32_t unvisited = std::numeric_limits<std::uint32_t>::max();
/// Views with outside references are recomputed instead of stored, up to this nesting depth.
constexpr std::uint32_t kept_view_depth = 8;

bool is_pending(const Node& node) {
  return node.kind == Node::Kind::operation && !node.evaluated();
}

/// A start of a slice or slice update that is a parameter of the program.
struct OpenStart {
  std::uint32_t region;  ///< position of the slice
  std::size_t axis;
  std::size_t number;  ///< of the parameter
  bool is_first;       ///< the first of the starts that share the parameter
};

/// The first operand of each operation, as an index into EvaluationGraph::order.
std::vector<std::uint32_t> first_operands(const EvaluationGraph& walk) {
  std::vector<std::uint32_t> first(walk.order.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < walk.order.size(); ++i) {
    if (walk.order[i].operand_count > 0) first[i] = walk.positions[at];
    at += walk.order[i].operand_count;
  }
  return first;
}

/// Calls function for each open start. Equal starts on the same axis of the same array share a
/// parameter, so that regions of equal extents are known to be the same: a row that is updated
/// again and again is stored once.
template <class Function>
void for_each_open_start(const EvaluationGraph& walk, std::span<const std::uint32_t> open,
                         const Function& function) {
  if (std::ranges::all_of(open, [](std::uint32_t axes) { return axes == 0; })) return;
  const std::vector<std::uint32_t> first = first_operands(walk);
  // The array that a region belongs to: what was updated first.
  const auto array_of = [&](std::uint32_t region) {
    std::uint32_t at = first[region];
    while (walk.order[at].kind == Node::Kind::operation &&
           walk.order[at].node->op == ir::Op::slice_update)
      at = first[at];
    return at;
  };
  std::map<std::tuple<std::uint32_t, std::size_t, std::int64_t>, std::size_t> numbers;
  for (std::size_t i = 0; i < walk.regions.size(); ++i) {
    if (open[i] == 0) continue;
    const std::uint32_t region = walk.regions[i], array = array_of(region);
    for (std::uint32_t axes = open[i]; axes != 0; axes &= axes - 1) {
      const auto axis = static_cast<std::size_t>(std::countr_zero(axes));
      const std::int64_t value = walk.order[region].node->attributes->starts[axis].constant();
      const auto [known, is_first] = numbers.try_emplace({array, axis, value}, numbers.size());
      function(OpenStart{region, axis, known->second, is_first});
    }
  }
}

class Walker {
 public:
  Walker(std::span<const NodeRef> roots, bool only_escaping)
      : roots_(roots), only_escaping_(only_escaping) {}

  EvaluationGraph run() {
    static std::uint64_t walks = 0;
    id_ = ++walks;
    walk_.order.reserve(2 * roots_.size());
    walk_.positions.reserve(2 * roots_.size());
    for (const NodeRef& root : roots_) visit(*root);
    visit_results();
    if (walk_.busy) return std::move(walk_);
    choose_outputs();
    describe_leaves();
    make_key();
    return std::move(walk_);
  }

 private:
  /// Counts one reference (the caller's to a root, or a user's). Returns true if the node is a
  /// pending operation that is visited for the first time.
  bool enter(Node& node) {
    if (node.walk != id_) begin(node);
    ++node.internal_references;
    if (node.position != unvisited) return false;
    if (is_pending(node)) {
      node.position = unvisited - 1;
      return true;
    }
    close(node);
    return false;
  }

  void begin(Node& node) {
    node.walk = id_;
    node.position = unvisited;
    node.internal_references = 0;
    node.escapes = false;
    if (!node.claimed()) return;
    walk_.busy = true;
    walk_.busy_here |= node.claim->is_own();
  }

  /// The caller's reference to the root counts as internal.
  void visit(Node& root) {
    depth_first(
        root, stack_, [&](Node& node) { return enter(node); }, [&](Node& node) { close(node); });
  }

  /// A computed call drops its operands, so its other pending results are computed in the same run.
  void visit_results() {
    for (std::size_t i = 0; i < walk_.order.size(); ++i) {
      const auto& [node, kind, operand_count] = walk_.order[i];
      if (kind != Node::Kind::operation || node->op != ir::Op::call) continue;
      for (NodeRef& result : node->pending_results()) {
        if (result->walk == id_ && result->position != unvisited) continue;
        visit(*result);
        results_.insert(result.get());
        walk_.results.push_back(std::move(result));
      }
    }
  }

  void close(Node& node) {
    node.position = static_cast<std::uint32_t>(walk_.order.size());
    EvaluationGraph::Entry entry{&node, node.kind};
    if (is_pending(node)) {
      entry.operand_count = static_cast<std::uint32_t>(node.operands().size());
      for (const NodeRef& operand : node.operands()) walk_.positions.push_back(operand->position);
      if (ir::fields_of(node.op).region) {
        walk_.regions.push_back(node.position);
        walk_.open.push_back(node.dynamic_starts);
      }
    } else if (node.evaluated() && node.kind != Node::Kind::constant) {
      entry.kind = Node::Kind::array;
    }
    walk_.order.push_back(entry);
  }

  /// For each position, the number of nested views and sources; 0 for other ops.
  std::vector<std::uint32_t> view_depths() const {
    std::vector<std::uint32_t> depths(walk_.order.size(), 0);
    const std::uint32_t* operand = walk_.positions.data();
    for (std::size_t i = 0; i < walk_.order.size(); ++i) {
      const EvaluationGraph::Entry& entry = walk_.order[i];
      std::uint32_t depth = 0;
      for (std::uint32_t k = 0; k < entry.operand_count; ++k) {
        depth = std::max(depth, depths[*operand++]);
      }
      if (entry.kind != Node::Kind::operation) continue;
      const ir::OpKind kind = ir::kind_of(entry.node->op);
      if (kind == ir::OpKind::view || kind == ir::OpKind::source) depths[i] = depth + 1;
    }
    return depths;
  }

  void choose_outputs() {
    const std::vector<std::uint32_t> depths = view_depths();
    std::unordered_set<const Node*> wanted = results_;
    if (!only_escaping_) {
      for (const NodeRef& root : roots_) wanted.insert(root.get());
    }
    // Visits users before operands, so that a node knows which uses need its value.
    for (std::size_t i = walk_.order.size(); i-- > 0;) {
      Node& node = *walk_.order[i].node;
      if (walk_.order[i].kind != Node::Kind::operation) continue;
      const bool needed = node.escapes || node.references() > node.internal_references;
      const bool keep_view = depths[i] > 0 && depths[i] <= kept_view_depth;
      if (wanted.contains(&node) || (needed && !keep_view)) {
        walk_.outputs.push_back(static_cast<std::uint32_t>(i));
      } else if (needed) {
        for (const NodeRef& operand : node.operands()) operand->escapes = true;
      }
    }
    std::reverse(walk_.outputs.begin(), walk_.outputs.end());
  }

  void describe_leaves() {
    for (std::size_t i = 0; i < walk_.order.size(); ++i) {
      const auto& [node, kind, operand_count] = walk_.order[i];
      if (kind != Node::Kind::array && kind != Node::Kind::scalar) continue;
      const bool array = kind == Node::Kind::array;
      walk_.leaves.push_back(static_cast<std::uint32_t>(i));
      walk_.aligned.push_back(!array || is_aligned(node->value));
      walk_.donated.push_back(array && !node->escapes &&
                              node->references() == node->internal_references &&
                              node->value.buffer.unique() && node->value.buffer->overwritable());
    }
  }

  void make_key() {
    HashCombiner mix;
    std::size_t leaf = 0;
    const std::uint32_t* operand = walk_.positions.data();
    for (const auto& [node, kind, operand_count] : walk_.order) {
      mix.number(static_cast<std::uint64_t>(kind));
      if (kind == Node::Kind::operation) {
        mix.hash(node->hash).number(operand_count);
        for (std::uint32_t k = 0; k < operand_count; ++k) mix.number(*operand++);
        continue;
      }
      mix.number(static_cast<std::uint64_t>(node->dtype));
      if (kind == Node::Kind::constant) {
        mix.number(node->bits.low).number(node->bits.high);
        continue;
      }
      mix.number(node->shape.size());
      for (ir::Dim extent : node->shape) mix.number(extent.hash());
      mix.number((walk_.donated[leaf] ? 1U : 0U) + (walk_.aligned[leaf] ? 2U : 0U));
      ++leaf;
    }
    for (std::uint32_t output : walk_.outputs) mix.number(output);
    const ir::Hash128 without_starts = mix.finish();
    walk_.key = with_starts(without_starts, walk_.open);
    const bool any_open = std::ranges::any_of(walk_.open, [](auto axes) { return axes != 0; });
    walk_.exact =
        any_open ? with_starts(without_starts, std::vector<std::uint32_t>(walk_.regions.size()))
                 : walk_.key;
  }

  ir::Hash128 with_starts(const ir::Hash128& key, const std::vector<std::uint32_t>& open) const {
    HashCombiner mix;
    mix.hash(key);
    for (std::size_t i = 0; i < walk_.regions.size(); ++i) {
      const ir::Dims& starts = walk_.order[walk_.regions[i]].node->attributes->starts;
      mix.number(open[i]);
      for (std::size_t axis = 0; axis < starts.size(); ++axis) {
        if (axis >= 32 || (open[i] >> axis & 1U) == 0) mix.number(starts[axis].hash());
      }
    }
    for_each_open_start(walk_, open, [&](const OpenStart& start) { mix.number(start.number); });
    return mix.finish();
  }

  std::span<const NodeRef> roots_;
  bool only_escaping_;
  std::uint64_t id_ = 0;
  std::vector<DepthFirstFrame> stack_;
  std::unordered_set<const Node*> results_;  ///< results of calls, in addition to the roots
  EvaluationGraph walk_;
};

}  // namespace

bool is_aligned(const runtime::DeviceArray& array) {
  const auto address = reinterpret_cast<std::uintptr_t>(array.buffer->pointer());
  return (address + static_cast<std::uintptr_t>(array.offset)) % 16 == 0;
}

EvaluationGraph collect_evaluation_graph(std::span<const NodeRef> roots, bool only_escaping) {
  return Walker(roots, only_escaping).run();
}

namespace {

ir::Dim start_symbol(std::size_t number) { return ir::Dim::symbol(fmt::format("start{}", number)); }

}  // namespace

std::vector<std::int64_t> EvaluationGraph::starts() const {
  std::vector<std::int64_t> starts;
  for_each_open_start(*this, open, [&](const OpenStart& start) {
    if (start.is_first)
      starts.push_back(order[start.region].node->attributes->starts[start.axis].constant());
  });
  return starts;
}

ir::Graph build_graph(const EvaluationGraph& walk, std::vector<std::uint32_t>& result) {
  GraphBuilder builder;
  std::unordered_map<const Node*, ir::Attributes> opened;
  for_each_open_start(walk, walk.open, [&](const OpenStart& start) {
    const Node* const node = walk.order[start.region].node;
    const ir::Dim symbol = start_symbol(start.number);
    opened.try_emplace(node, *node->attributes).first->second.starts[start.axis] = symbol;
    if (start.is_first) builder.graph.parameter(DType::u8, ir::extent_argument(symbol).shape);
  });
  for (const EvaluationGraph::Entry& entry : walk.order) {
    const Node& node = *entry.node;
    if (entry.kind == Node::Kind::operation) {
      const auto changed = opened.find(&node);
      if (changed == opened.end()) {
        builder.add_operation(node);
      } else {
        builder.add_operation(node, std::move(changed->second));
      }
    } else if (entry.kind == Node::Kind::constant) {
      builder.add_constant(node);
    } else if (entry.kind == Node::Kind::array) {
      builder.add_array(node);
    } else {
      builder.add_scalar(node);
    }
  }
  for (const std::uint32_t output : walk.outputs)
    result.push_back(builder.add_output(*walk.order[output].node));
  return std::move(builder.graph);
}

}  // namespace heddle::frontend
