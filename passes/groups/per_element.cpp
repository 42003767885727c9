#include "passes/groups/per_element.h"

#include <algorithm>

#include "ir/calls/calls.h"
#include "ir/calls/control.h"
#include "ir/calls/user_map.h"

namespace heddle::passes {

bool is_element_loop(const ir::Graph& graph, ir::ValueId node) {
  return graph.is_call_of(node, ir::calls::element_loop());
}

bool walks_memory(const ir::Graph& graph, ir::ValueId node) {
  if (!is_element_loop(graph, node)) return false;
  const ir::CallData& call = *graph.attributes(node).call;
  const auto carries = static_cast<std::size_t>(call.get<std::int64_t>("carries"));
  return call.get<std::int64_t>("sequences") > 0 || call.regions.back().results.size() > carries;
}

bool is_stacked(const ir::Graph& graph, ir::ValueId node) {
  return is_element_loop(graph, node) && ir::is_stacked(*graph.attributes(node).call);
}

bool share_loop(const ir::Graph& graph, ir::ValueId a, ir::ValueId b) {
  if (!is_element_loop(graph, a) || !is_element_loop(graph, b) ||
      !std::ranges::equal(graph.operands(a), graph.operands(b)))
    return false;
  const ir::CallData &one = *graph.attributes(a).call, &other = *graph.attributes(b).call;
  return one.regions == other.regions &&
         one.get<std::int64_t>("carries") == other.get<std::int64_t>("carries") &&
         one.get<std::int64_t>("sequences") == other.get<std::int64_t>("sequences") &&
         one.get<ir::Dims>("length") == other.get<ir::Dims>("length") &&
         one.get<bool>("reverse") == other.get<bool>("reverse");
}

ir::Shape loop_shape(const ir::Graph& graph, ir::ValueId node) {
  ir::Shape shape = graph.shape(node);
  if (is_stacked(graph, node)) shape.erase(shape.begin());
  return shape;
}

bool is_user_map(const ir::Graph& graph, ir::ValueId node) {
  return graph.is_call_of(node, ir::calls::user_map());
}

bool is_user_write(const ir::Graph& graph, ir::ValueId node) {
  return graph.is_call_of(node, ir::calls::user_write());
}

bool is_user_function(const ir::Graph& graph, ir::ValueId node) {
  return is_user_map(graph, node) || is_user_write(graph, node);
}

bool may_run_forever(const ir::Graph& graph, ir::ValueId node) {
  if (!is_element_call(graph, node)) return false;
  const ir::CallData& call = *graph.attributes(node).call;
  return is_element_loop(graph, node) ? !ir::is_counted(call) : ir::may_run_forever(call);
}

bool writes_anywhere(const ir::Graph& graph, ir::ValueId node) {
  return ir::is_scatter(graph.op(node)) || is_user_write(graph, node);
}

bool is_element_call(const ir::Graph& graph, ir::ValueId node) {
  return is_element_loop(graph, node) || is_user_function(graph, node);
}

bool is_per_element(const ir::Graph& graph, ir::ValueId node) {
  const ir::Op op = graph.op(node);
  if (is_user_map(graph, node)) return !ir::has_raw_operands(*graph.attributes(node).call);
  const bool loops = is_element_loop(graph, node) && !walks_memory(graph, node);
  return ir::is_elementwise(op) || op == ir::Op::cast || loops;
}

bool is_segmented(const ir::Graph& graph, ir::ValueId node) {
  return ir::is_reduction(graph.op(node)) && graph.operands(node).size() > 1;
}

bool reads_whole(const ir::Graph& graph, ir::ValueId node, std::size_t k) {
  if (ir::is_search(graph.op(node))) return k == 0;
  if (is_element_loop(graph, node)) {
    const auto sequences = graph.attributes(node).call->get<std::int64_t>("sequences");
    return k + static_cast<std::size_t>(sequences) >= graph.operands(node).size();
  }
  if (!is_user_function(graph, node)) return false;
  const ir::CallData& call = *graph.attributes(node).call;
  const bool is_initial = k >= ir::user_function(call).inputs.size();
  return ir::is_raw_operand(call, k) || (is_initial && is_user_write(graph, node));
}

}  // namespace heddle::passes
