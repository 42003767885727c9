#include "frontend/evaluate/evaluate.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

#include "heddle/error.h"

#include "frontend/evaluate/interruption.h"
#include "frontend/graph/graph_walk.h"
#include "frontend/graph/hash_combiner.h"
#include "frontend/graph/placement.h"
#include "frontend/graph/record.h"
#include "frontend/graph/storage.h"
#include "ir/base/fork_gate.h"
#include "ir/base/span.h"
#include "ir/graph/generalize.h"
#include "runtime/base/bounded_map.h"
#include "runtime/base/interrupt.h"
#include "runtime/device/backend.h"
#include "runtime/execute/call_site.h"

namespace heddle::frontend {

namespace {

/// A compiled program, with the mapping from the walk's outputs to the program's outputs.
struct Prepared {
  std::shared_ptr<const runtime::Executable> executable;
  std::vector<std::uint32_t> result;
  std::vector<std::uint32_t> open;           ///< EvaluationGraph::open of the original walk
  std::vector<runtime::Argument> extras;     ///< follow the walk's own arguments
  std::shared_ptr<const ir::Graph> general;  ///< runtime::SiteProgram::general
};

/// Cache of lazy programs of this process, keyed by what they compute. Never destroyed, because
/// arrays may be evaluated during process exit.
class PreparedCache {
 public:
  static PreparedCache& instance() {
    static PreparedCache& cache = *new PreparedCache;
    return cache;
  }

  using Value = std::shared_ptr<const Prepared>;

  /// Finds the program that ran a walk with exactly these starts before; otherwise the program of
  /// walks that open the same starts. A repeated walk thus finds its program even if more starts
  /// are open now.
  Value find(const ir::Hash128& exact, const ir::Hash128& key) {
    const std::lock_guard lock(mutex_);
    if (exact != key) {
      if (const Value* const found = by_starts_.find(exact)) return *found;
      if (const Value* const found = programs_.find(exact)) return *found;
    }
    const Value* const found = programs_.find(key);
    if (found == nullptr) return nullptr;
    if (exact != key) by_starts_[exact] = *found;
    return *found;
  }
  void insert(const ir::Hash128& exact, const ir::Hash128& key, Value prepared) {
    const std::lock_guard lock(mutex_);
    if (exact != key) by_starts_[exact] = prepared;
    Value& entry = programs_[key];
    if (!entry) ++counters().programs;
    entry = std::move(prepared);
  }

 private:
  using Map = runtime::BoundedMap<ir::Hash128, Value, ir::Hash128Hasher>;
  ir::Mutex mutex_;
  Map programs_{4096};
  Map by_starts_{16384};
};

/// Number of evaluations that have finished or failed. Guarded by graph_mutex().
std::uint64_t evaluations_ended = 0;

ir::Condition& evaluation_ended() {
  static constinit ir::Condition condition;
  return condition;
}

/// Throws a DeviceError that names the op at which arrays of several devices meet. Recording checks
/// that operands are on one device, but an operand without a device may since have been computed on
/// another one.
[[noreturn]] void refuse_devices(const EvaluationGraph& walk) {
  std::vector<std::optional<runtime::Device>> devices;
  const std::uint32_t* operand = walk.positions.data();
  for (const EvaluationGraph::Entry& entry : walk.order) {
    std::optional<runtime::Device>& device = devices.emplace_back();
    if (entry.kind == Node::Kind::array) device = entry.node->value.buffer->device();
    std::vector<PlacedOperand> operands;
    for (std::uint32_t k = 0; k < entry.operand_count; ++k, ++operand)
      operands.push_back({walk.order[*operand].node, devices[*operand]});
    if (entry.kind == Node::Kind::operation)
      device = common_device(op_name(*entry.node), operands, entry.node->site);
  }
  throw InternalError("one program was asked to compute values on several devices");
}

/// The device of the leaves, or the thread's current device if there are no leaves with a device.
runtime::Device device_of(const EvaluationGraph& walk) {
  std::optional<runtime::Device> device;
  for (const std::uint32_t leaf : walk.leaves) {
    if (walk.order[leaf].kind != Node::Kind::array) continue;
    const runtime::Device here = walk.order[leaf].node->value.buffer->device();
    if (device && !(*device == here)) refuse_devices(walk);
    device = here;
  }
  return device ? *device : runtime::current_device();
}

/// Finds the devices of pending nodes. A node that had no device when it was recorded takes that of
/// an operand that has been computed since. graph_mutex() must be held.
class Placement {
 public:
  runtime::Device device_of_root(const Node& root) {
    if (const auto known = device_of(root)) return *known;
    std::vector<const Node*> stack = {&root};
    while (!stack.empty()) {
      const Node* const node = stack.back();
      stack.pop_back();
      if (node->kind == Node::Kind::operation || node->kind == Node::Kind::array) {
        if (const auto known = device_of(*node)) return *known;
      }
      if (!on_none_.insert(node).second) continue;
      for (const NodeRef& operand : node->operands()) stack.push_back(operand.get());
    }
    return own_;
  }
  runtime::Device own() const { return own_; }

 private:
  runtime::Device own_ = runtime::current_device();
  std::unordered_set<const Node*> on_none_;
};

/// Removes from `nodes` and returns a set that one program can compute, all on one device. The last
/// set consists of the nodes on the thread's own device and those without a device. graph_mutex()
/// must be held.
std::vector<NodeRef> take_of_one_device(std::vector<NodeRef>& nodes) {
  if (runtime::device_count() == 1) return std::exchange(nodes, {});
  Placement placement;
  std::vector<runtime::Device> devices;
  runtime::Device chosen = placement.own();
  for (const NodeRef& node : nodes) {
    devices.push_back(placement.device_of_root(*node));
    if (chosen == placement.own()) chosen = devices.back();
  }
  std::vector<NodeRef> taken, left;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    (devices[i] == chosen ? taken : left).push_back(std::move(nodes[i]));
  nodes = std::move(left);
  return taken;
}

/// One run of a walk's program: claims the nodes, runs the program, sets the nodes' values.
class Run {
 public:
  explicit Run(EvaluationGraph walk) : walk_(std::move(walk)) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// graph_mutex() must be held.
  void claim() {
    for (const EvaluationGraph::Entry& entry : walk_.order) {
      if (entry.kind == Node::Kind::operation) entry.node->claim = &evaluation_;
    }
  }

  Evaluated execute() {
    try {
      const runtime::Device device = device_of(walk_);
      runtime::Stream stream = runtime::Stream::current(device);
      const std::shared_ptr<const Prepared> prepared = prepare(device);
      prepared->executable->prepare_run();
      collect_arguments(*prepared);
      collect_lines(*prepared);
      runtime::CallerLocations lines{std::span<const ir::Location>(lines_)};
      std::optional<ir::Graph> graph;
      if (ir::kernels_watched()) [[unlikely]] {
        std::vector<std::uint32_t> result;
        lines.graph = prepared->general ? prepared->general.get()
                                        : &graph.emplace(build_graph(walk_, result));
      }
      std::vector<NodeRef> released;
      {
        // A forked child finds either the values, or memory to which nothing has been written.
        const ir::ForkSection section;
        const runtime::InterruptibleRun run(runtime::capabilities_of(device).host_memory &&
                                            !overwrites_arguments(prepared->executable->program()));
        prepared->executable->run(arguments_, stream, values_, lines);
        ++counters().evaluations;
        released = finish(*prepared);
      }
      evaluation_ended().notify_all();
      return {prepared.get(), made_};
    } catch (...) {
      give_back();
      throw;
    }
  }

 private:
  std::shared_ptr<const Prepared> prepare(runtime::Device device) {
    const auto on_device = [&](const ir::Hash128& key) {
      return HashCombiner()
          .hash(key)
          .number(static_cast<std::uint64_t>(device.kind))
          .number(static_cast<std::uint64_t>(device.ordinal))
          .finish();
    };
    const ir::Hash128 exact = on_device(walk_.exact), key = on_device(walk_.key);
    if (auto found = PreparedCache::instance().find(exact, key)) {
      walk_.open = found->open;
      return found;
    }
    auto prepared = std::make_shared<Prepared>();
    prepared->open = walk_.open;
    const ir::Graph graph = build_graph(walk_, prepared->result);
    runtime::CompileOptions options;
    options.deferred = true;
    const std::size_t starts = walk_.starts().size();
    options.donated.assign(starts, false);
    options.aligned.assign(starts, true);
    options.donated.insert(options.donated.end(), walk_.donated.begin(), walk_.donated.end());
    // Interrupted loops are evaluated again, from the same arguments.
    if (runtime::capabilities_of(device).host_memory && has_loops(graph))
      options.donated.assign(options.donated.size(), false);
    options.aligned.insert(options.aligned.end(), walk_.aligned.begin(), walk_.aligned.end());
    runtime::SiteProgram program = runtime::executable_for_site(place(), graph, options, device);
    prepared->executable = std::move(program.executable);
    prepared->extras = std::move(program.extras);
    prepared->general = std::move(program.general);
    PreparedCache::instance().insert(exact, key, prepared);
    made_ = true;
    return prepared;
  }

  /// Hash of the source lines at which the graph was recorded.
  ir::Hash128 place() const {
    std::set<std::pair<const char*, std::uint64_t>> lines;
    for (const auto& [node, kind, operand_count] : walk_.order) {
      if (kind != Node::Kind::operation) continue;
      const Site& site = node->site;
      lines.emplace(site.location.file, (std::uint64_t{site.location.line} << 32) | site.column);
    }
    HashCombiner mix;
    for (const auto& [file, line] : lines)
      mix.number(reinterpret_cast<std::uintptr_t>(file)).number(line);
    return mix.finish();
  }

  /// The open starts come first. The memory of a leaf to which only this walk refers may be
  /// donated.
  void collect_arguments(const Prepared& prepared) {
    for (const std::int64_t start : walk_.starts())
      starts_.push_back({ir::extent_argument(start), {}, 0});
    for (const runtime::DeviceArray& start : starts_) arguments_.push_back({&start});
    for (const std::uint32_t leaf : walk_.leaves) {
      const auto& [node, kind, operand_count] = walk_.order[leaf];
      runtime::ArgumentView& argument = arguments_.emplace_back();
      if (kind == Node::Kind::scalar) {
        argument.scalar = {node->dtype, node->bits};
      } else {
        argument.array = &node->value;
      }
    }
    for (const runtime::Argument& extra : prepared.extras)
      arguments_.push_back(runtime::view_of(extra));
  }

  void collect_lines(const Prepared& prepared) {
    lines_.resize(walk_.outputs.size());
    for (std::size_t i = 0; i < walk_.outputs.size(); ++i) {
      lines_[prepared.result[i]] = walk_.order[walk_.outputs[i]].node->site.location;
    }
  }

  /// Returns the operands that the nodes drop, so that the caller releases them without the lock.
  std::vector<NodeRef> finish(const Prepared& prepared) {
    std::vector<NodeRef> released;
    const std::lock_guard lock(graph_mutex());
    for (std::size_t i = 0; i < walk_.outputs.size(); ++i) {
      Node& node = *walk_.order[walk_.outputs[i]].node;
      node.set_value(values_[prepared.result[i]]);
      Recorder::remove(node);
      for (NodeRef& operand : node.take_operands()) released.push_back(std::move(operand));
    }
    values_.clear();
    unclaim();
    return released;
  }

  void give_back() {
    const std::lock_guard lock(graph_mutex());
    unclaim();
    evaluation_ended().notify_all();
  }

  void unclaim() {
    ++evaluations_ended;
    for (const EvaluationGraph::Entry& entry : walk_.order) {
      if (entry.kind == Node::Kind::operation) entry.node->claim = nullptr;
    }
  }

  EvaluationGraph walk_;
  Evaluation evaluation_;
  bool made_ = false;  ///< the program is new
  std::vector<runtime::DeviceArray> starts_;
  std::vector<runtime::ArgumentView> arguments_;
  std::vector<ir::Location> lines_;  ///< of the program's outputs
  std::vector<runtime::DeviceArray> values_;
};

/// For a value that this thread is currently computing.
[[noreturn]] void refuse_own(const Node& node) {
  throw ValueError(
      at("a value is read while this thread is computing it, for example in a signal handler; read "
         "it after the computation",
         node.site));
}

/// Walks the graph from the nodes that `roots` returns, and claims the walk's operations. `roots`
/// is called again for each attempt. If another thread computes a part of the graph, waits for it,
/// or returns null if `wait` is false. Throws ValueError if this thread itself computes a part of
/// the graph and only_escaping is false.
template <class Roots>
std::unique_ptr<Run> claim_graph(const Roots& roots, bool only_escaping, bool wait) {
  std::optional<runtime::InterruptibleWait> waiting;
  std::unique_lock lock(graph_mutex());
  for (;;) {
    const std::span<const NodeRef> nodes = roots();
    EvaluationGraph walk = collect_evaluation_graph(nodes, only_escaping);
    if (walk.busy_here && !only_escaping) refuse_own(*nodes[0]);
    if (walk.busy && (walk.busy_here || !wait)) return nullptr;
    if (walk.busy) {
      const std::uint64_t seen = evaluations_ended;
      if (!waiting) waiting.emplace();
      waiting->wait(evaluation_ended(), lock, [&] { return evaluations_ended != seen; });
      continue;
    }
    if (walk.outputs.empty()) return nullptr;
    auto run = std::make_unique<Run>(std::move(walk));
    run->claim();
    return run;
  }
}

}  // namespace

void evaluate(std::span<const NodeRef> nodes) {
  std::vector<NodeRef> roots;
  for (const NodeRef& node : nodes) {
    if (node->evaluated()) continue;
    if (node->kind == Node::Kind::operation) {
      roots.push_back(node);
    } else {
      // A 0-d scalar that is wanted as an array.
      const NodeRef array = upload(&node->bits, {node->dtype, {}});
      const std::lock_guard lock(graph_mutex());
      if (!node->evaluated()) node->set_value(array->value);
    }
  }
  std::vector<NodeRef> together;
  const auto wanted = [&]() -> std::span<const NodeRef> {
    if (together.empty()) together = take_of_one_device(roots);
    return together;
  };
  while (!roots.empty()) {
    together.clear();
    if (const auto run = claim_graph(wanted, false, true)) run->execute();
  }
}

void evaluate(const NodeRef& node) { evaluate(std::span(&node, 1)); }

Evaluated evaluate_pending(Recorder& recorder, bool wait) {
  // Nodes that another run computes are not held: a reference would keep them alive after that run
  // has dropped their operands.
  std::vector<NodeRef> nodes, others;
  const auto pending = [&]() -> std::span<const NodeRef> {
    nodes.clear();
    others = recorder.unclaimed();
    return nodes = take_of_one_device(others);
  };
  Evaluated all;
  do {
    const auto run = claim_graph(pending, true, wait);
    if (!run) break;
    const auto [program, made] = run->execute();
    all = {program, all.made || made};
  } while (!others.empty());
  return all;
}

Counters& counters() {
  static Counters& counters = *new Counters;
  return counters;
}

}  // namespace heddle::frontend
