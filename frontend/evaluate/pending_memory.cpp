#include "frontend/evaluate/pending_memory.h"

#include <vector>

#include "heddle/error.h"

#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/graph_walk.h"
#include "frontend/graph/trace.h"
#include "runtime/base/log.h"
#include "runtime/base/per_thread.h"
#include "runtime/device/memory.h"

namespace heddle::frontend {
namespace {

/// True if users of the value can compute it element by element, so that it need not be stored.
bool fuses(ir::Op op) {
  const ir::OpKind kind = ir::kind_of(op);
  return kind == ir::OpKind::source || kind == ir::OpKind::elementwise || kind == ir::OpKind::view;
}

bool on_one_line(const Node& a, const Node& b) {
  return a.site.location.file == b.site.location.file &&
         a.site.location.line == b.site.location.line;
}

void free_pending(runtime::Device device, std::size_t wanted) {
  thread_local bool busy = false;
  Recorder& recorder = Recorder::current();
  if (busy || !auto_eval_enabled() || Trace::current() != nullptr ||
      recorder.pending_count() == 0 || runtime::Stream::current(device).capturing()) {
    return;
  }
  const MemoryEffect memory = memory_of_pending(recorder);
  if (memory.frees <= memory.makes) return;
  busy = true;
  try {
    if (evaluate_pending(recorder, false)) ++counters().auto_evaluations;
    runtime::log().info(
        "evaluated pending work to free {} bytes, because {} bytes could not be allocated",
        memory.frees - memory.makes, wanted);
  } catch (const Error& failure) {
    // The allocation that found no memory reports the error itself; the work stays pending.
    runtime::log().info("pending work could not be evaluated to free memory: {}", failure.what());
  }
  busy = false;
}

}  // namespace

MemoryEffect memory_of_pending(Recorder& recorder, const Node* value) {
  MemoryEffect memory;
  std::vector<NodeRef> nodes;  // released after the lock
  const std::lock_guard lock(graph_mutex());
  nodes = recorder.unclaimed();
  const EvaluationGraph walk = collect_evaluation_graph(nodes, true);
  if (walk.busy) return memory;
  for (std::size_t i = 0; i < walk.leaves.size(); ++i) {
    if (walk.donated[i]) memory.frees += bytes_of(*walk.order[walk.leaves[i]].node);
  }
  std::vector<bool> kept(walk.order.size(), false);
  for (const std::uint32_t output : walk.outputs) {
    const Node& node = *walk.order[output].node;
    kept[output] = true;
    if (&node == value || value == nullptr || !on_one_line(node, *value))
      memory.makes += bytes_of(node);
  }
  for (std::size_t i = 0; i < walk.order.size(); ++i) {
    const auto& [node, kind, operand_count] = walk.order[i];
    if (kind == Node::Kind::operation && !kept[i] && !fuses(node->op))
      memory.between += bytes_of(*node);
  }
  return memory;
}

namespace {

/// Holds a thread's recorder, and registers evaluation of its pending work as a way to free memory.
struct RecorderHolder {
  RecorderHolder() {
    static const int once = runtime::add_reclaimer(
        [](runtime::Device device, std::size_t wanted) { free_pending(device, wanted); });
    static_cast<void>(once);
  }
  Recorder* recorder = new Recorder;
  ~RecorderHolder() { recorder->release(); }
};

}  // namespace

Recorder& Recorder::current() { return *runtime::per_thread<RecorderHolder>().recorder; }

}  // namespace heddle::frontend
