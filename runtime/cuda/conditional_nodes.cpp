#include "runtime/cuda/conditional_nodes.h"

#include "runtime/cuda/devices.h"
#include "runtime/cuda/stream_capture.h"

namespace heddle::runtime::cuda {

namespace {

class ConditionalNodes final : public GraphConditions {
 public:
  std::uint64_t add(const Stream& capturing) const override {
    std::uint64_t condition = 0;
    driver().graph_conditional_handle_create(&condition, captured_graph(capturing).graph,
                                             primary_context(capturing.device().ordinal), 0, 0);
    return condition;
  }

  void capture(const Stream& capturing, std::uint64_t condition, Kind kind,
               const Enqueue& enqueue) const override {
    const CapturedGraph outer = captured_graph(capturing);
    ConditionalNodeParams params;
    params.condition = condition;
    params.kind = kind == Kind::loop ? ConditionalKind::while_ : ConditionalKind::if_;
    params.context = primary_context(capturing.device().ordinal);
    GraphNodeHandle node = nullptr;
    driver().graph_add_node(&node, outer.graph, outer.last.data(), nullptr, outer.last.size(),
                            &params);
    constexpr unsigned set = 1;  // CU_STREAM_SET_CAPTURE_DEPENDENCIES
    driver().stream_update_capture_dependencies(capturing.handle(), &node, 1, set);
    const Stream inner = Stream::create(capturing.device());
    StreamCapture body(inner, params.bodies[0], {});
    enqueue(inner);
    body.finish();
  }

  void run(const Stream& stream, const Enqueue& enqueue) const override {
    Graph graph;
    const Stream capturing = Stream::create(stream.device());
    StreamCapture capture(capturing, graph.handle(), {});
    enqueue(capturing);
    capture.finish();
    const ExecutableGraph executable(graph.handle());
    driver().graph_launch(executable.handle(), stream.handle());
  }
};

}  // namespace

const GraphConditions* graph_conditions() {
  static const ConditionalNodes nodes;
  const Driver& table = driver();
  const bool all = table.stream_begin_capture_to_graph && table.stream_get_capture_info &&
                   table.stream_update_capture_dependencies &&
                   table.graph_conditional_handle_create && table.graph_add_node;
  return all ? &nodes : nullptr;
}

}  // namespace heddle::runtime::cuda
