// Launches, graphs and their capture.

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "control.h"
#include "runtime/cuda/driver.h"
#include "state.h"

namespace fake {

namespace cuda = heddle::runtime::cuda;

/// Objects that a graph, and what was made executable of it, keep alive.
struct Retained {
  std::vector<std::pair<void (*)(void*), void*>> objects;
  Retained() = default;
  Retained(const Retained&) = delete;
  Retained& operator=(const Retained&) = delete;
  ~Retained() {
    for (const auto& [destroy, pointer] : objects) destroy(pointer);
  }
};

struct Graph {
  std::vector<Node*> nodes;
  std::shared_ptr<Retained> retained = std::make_shared<Retained>();
  std::vector<std::shared_ptr<std::uint64_t>> conditions;
  std::vector<Graph*> bodies;  ///< by conditional node
};

struct Executable {
  std::shared_ptr<Retained> retained;
  std::vector<std::pair<Node*, Node>> nodes;  ///< of the graph, and what they are here
};

struct UserObject {
  void* pointer;
  void (*destroy)(void*);
};

namespace {

std::uint64_t graphs = 0, executables = 0;
thread_local int captures = 0;  ///< that this thread has begun in a mode that forbids things
thread_local auto mode = cuda::CaptureMode::global;

Node node_of(const cuda::KernelNodeParams& params) {
  Node node;
  node.kernel = reinterpret_cast<const Kernel*>(params.function);
  node.grid = params.grid[0];
  node.block = params.block[0];
  set_parameters(node, params.parameters);
  return node;
}

Node node_of(const cuda::MemsetNodeParams& params) {
  Node node;
  node.destination = params.destination;
  node.value = static_cast<unsigned char>(params.value);
  node.bytes = params.width;
  return node;
}

Node* add(Graph* graph, Node node) { return graph->nodes.emplace_back(new Node(std::move(node))); }

bool in_a_line(const Graph* graph, Node* const* dependencies, std::size_t count) {
  return graph->nodes.empty() ? count == 0 : count == 1 && dependencies[0] == graph->nodes.back();
}

Node* node_in(Executable* executable, const Node* original) {
  for (auto& [of, node] : executable->nodes) {
    if (of == original) return &node;
  }
  return nullptr;
}

/// Then the legacy default stream, which waits for those streams, must not be used.
bool captures_a_blocking_stream() {
  const Lock lock(state().mutex);
  constexpr unsigned non_blocking = 1;
  return std::ranges::any_of(state().streams, [](const auto& entry) {
    return entry.first->capture != nullptr && (entry.first->flags & non_blocking) == 0;
  });
}

}  // namespace

bool unsafe_now() { return captures > 0 && mode != cuda::CaptureMode::relaxed; }

int execute(const Node& node, Context* context) {
  if (node.conditional) {
    while (*node.condition != 0) {
      for (const Node* const each : node.conditional->nodes) {
        if (const int error = execute(*each, context)) return error;
      }
      if (!node.repeats) break;
    }
    return success;
  }
  if (node.work) return node.work(), success;
  state().microseconds += node.kernel != nullptr ? node.grid : 1;
  if (node.kernel == nullptr) {
    if (!reaches(context, node.destination, node.bytes)) return illegal_address;
    std::memset(reinterpret_cast<void*>(node.destination), node.value, node.bytes);
  } else if (node.kernel->run != nullptr) {
    for (const auto& [low, high] : node.parameters) {
      const Block* const block = block_of(low, 1);
      if (block != nullptr && !reaches(context, low, 1)) return illegal_address;
    }
    node.kernel->run(node);
  }
  return success;
}

int submit(Stream* stream, const Node& node) {
  if (stream->capture != nullptr) {
    add(stream->capture, node);
  } else if (node.kernel != &nothing) {
    stream->work.emplace_back([node, context = stream->context] {
      if (const int error = execute(node, context)) context->lost = error;
    });
  }
  return success;
}

}  // namespace fake

using namespace fake;

extern "C" {

std::uint64_t fake_live_graphs() { return graphs; }
std::uint64_t fake_live_executables() { return executables; }

/// What a library enqueues: done in the stream's turn, or captured.
void fake_enqueue(Stream* stream, const std::function<void()>* work) {
  const Lock lock(state().mutex);
  Node node;
  node.work = *work;
  submit(resolve(stream), node);
}

int cuLaunchKernel(const Kernel* kernel, unsigned grid, unsigned grid_y, unsigned grid_z,
                   unsigned block, unsigned block_y, unsigned block_z, unsigned shared,
                   Stream* stream, void** parameters, void**) {
  if (const int error = enter("cuLaunchKernel")) return error;
  stream = resolve(stream);
  if (const int error = stream_error(stream)) return error;
  if (kernel == &nothing && stream->capture == nullptr) return success;
  const Lock lock(state().mutex);
  Node node;
  node.kernel = kernel;
  node.grid = grid;
  node.block = block;
  node.shape = {grid, grid_y, grid_z, block, block_y, block_z, shared, 0};
  set_parameters(node, parameters);
  return submit(stream, node);
}
int cuLaunchKernelEx(const cuda::LaunchConfig* config, const Kernel* kernel, void** parameters,
                     void**) {
  if (const int error = enter("cuLaunchKernelEx")) return error;
  Stream* const stream = resolve(reinterpret_cast<Stream*>(config->stream));
  if (const int error = stream_error(stream)) return error;
  const Lock lock(state().mutex);
  Node node;
  node.kernel = kernel;
  node.grid = config->grid[0];
  node.block = config->block[0];
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    if (config->attributes[i].id == cuda::LaunchAttributeId::cluster_dimension)
      node.cluster[0] = config->attributes[i].value.cluster_dimension[0];
    if (config->attributes[i].id == cuda::LaunchAttributeId::cooperative)
      node.shape[7] = static_cast<unsigned>(config->attributes[i].value.cooperative);
  }
  std::copy_n(config->grid, 3, node.shape.begin());
  std::copy_n(config->block, 3, node.shape.begin() + 3);
  node.shape[6] = config->shared_bytes;
  set_parameters(node, parameters);
  return submit(stream, node);
}
int cuOccupancyMaxActiveClusters(int* clusters, const Kernel*, const cuda::LaunchConfig*) {
  return *clusters = 132, success;
}

int cuStreamBeginCapture_v2(Stream* stream, cuda::CaptureMode wanted) {
  if (const int error = enter("cuStreamBeginCapture_v2")) return error;
  const Lock lock(state().mutex);
  if (stream->capture != nullptr) return invalid_value;
  stream->capture = new Graph;
  stream->into_graph = false;
  ++graphs;
  stream->forbids = wanted != cuda::CaptureMode::relaxed;
  if (stream->forbids) ++captures;
  return success;
}
int cuStreamBeginCaptureToGraph(Stream* stream, Graph* graph, Node* const* dependencies,
                                const void*, std::size_t count, cuda::CaptureMode wanted) {
  if (const int error = enter("cuStreamBeginCaptureToGraph")) return error;
  const Lock lock(state().mutex);
  if (stream->capture != nullptr || wanted != cuda::CaptureMode::relaxed ||
      !in_a_line(graph, dependencies, count)) {
    return invalid_value;
  }
  stream->capture = graph;
  stream->into_graph = true;
  stream->forbids = false;
  return success;
}
int cuStreamEndCapture(Stream* stream, Graph** graph) {
  const Lock lock(state().mutex);
  if (stream->capture == nullptr) return invalid_value;
  *graph = std::exchange(stream->capture, nullptr);
  if (stream->forbids) captures = std::max(0, captures - 1);
  const int error = enter("cuStreamEndCapture");
  if (error != success && !stream->into_graph) {
    --graphs;
    delete std::exchange(*graph, nullptr);
  }
  return error;
}
int cuStreamIsCapturing(Stream* stream, cuda::CaptureStatus* status) {
  const bool legacy = std::ranges::find(state().legacy, resolve(stream)) != state().legacy.end();
  if (legacy && captures_a_blocking_stream()) return capture_implicit;
  *status =
      resolve(stream)->capture != nullptr ? cuda::CaptureStatus::active : cuda::CaptureStatus::none;
  return success;
}
int cuStreamGetCaptureInfo_v2(Stream* stream, cuda::CaptureStatus* status, std::uint64_t*,
                              Graph** graph, Node* const** last, std::size_t* count) {
  cuStreamIsCapturing(stream, status);
  if (graph != nullptr) *graph = stream->capture;
  if (stream->capture == nullptr || last == nullptr) return success;
  *count = stream->capture->nodes.empty() ? 0 : 1;
  *last = *count == 0 ? nullptr : &stream->capture->nodes.back();
  return success;
}
int cuStreamUpdateCaptureDependencies(Stream* stream, Node* const* nodes, std::size_t count,
                                      unsigned flags) {
  if (flags != 1 || count != 1 || stream->capture == nullptr) return invalid_value;
  return nodes[0] == stream->capture->nodes.back() ? success : invalid_value;
}
int cuThreadExchangeStreamCaptureMode(cuda::CaptureMode* wanted) {
  std::swap(mode, *wanted);
  return success;
}

int cuUserObjectCreate(UserObject** object, void* pointer, void (*destroy)(void*), unsigned count,
                       unsigned flags) {
  if (count != 1 || flags != 1) return invalid_value;
  return *object = new UserObject{pointer, destroy}, success;
}
int cuUserObjectRelease(UserObject* object, unsigned) {
  object->destroy(object->pointer);
  return delete object, success;
}
int cuGraphRetainUserObject(Graph* graph, UserObject* object, unsigned count, unsigned flags) {
  if (const int error = enter("cuGraphRetainUserObject")) return error;
  if (count != 1 || flags != 1) return invalid_value;
  const Lock lock(state().mutex);
  graph->retained->objects.emplace_back(object->destroy, object->pointer);
  return delete object, success;
}

int cuGraphCreate(Graph** graph, unsigned) {
  if (const int error = enter("cuGraphCreate")) return error;
  const Lock lock(state().mutex);
  ++graphs;
  return *graph = new Graph, success;
}
int cuGraphDestroy(Graph* graph) {
  std::shared_ptr<Retained> retained;  // let go of without the lock
  const Lock lock(state().mutex);
  retained = std::move(graph->retained);
  for (const Node* node : graph->nodes) delete node;
  --graphs;
  return delete graph, success;
}
int cuGraphConditionalHandleCreate(std::uint64_t* condition, Graph* graph, Context* context,
                                   unsigned, unsigned) {
  if (const int error = enter("cuGraphConditionalHandleCreate")) return error;
  const Lock lock(state().mutex);
  if (context != current_context()) return invalid_value;
  const auto& made = graph->conditions.emplace_back(std::make_shared<std::uint64_t>(0));
  return *condition = reinterpret_cast<std::uint64_t>(made.get()), success;
}
int cuGraphAddNode_v2(Node** node, Graph* graph, Node* const* dependencies, const void*,
                      std::size_t count, cuda::ConditionalNodeParams* params) {
  if (const int error = enter("cuGraphAddNode_v2")) return error;
  const Lock lock(state().mutex);
  if (!in_a_line(graph, dependencies, count) || params->type != 13 || params->size != 1 ||
      params->context != reinterpret_cast<cuda::ContextHandle>(current_context())) {
    return invalid_value;
  }
  Node made;
  made.conditional = std::shared_ptr<Graph>(new Graph, [](Graph* body) {
    for (const Node* each : body->nodes) delete each;
    delete body;
  });
  for (const auto& condition : graph->conditions) {
    if (reinterpret_cast<std::uint64_t>(condition.get()) == params->condition)
      made.condition = condition;
  }
  if (made.condition == nullptr) return invalid_value;
  made.repeats = params->kind == cuda::ConditionalKind::while_;
  graph->bodies.push_back(made.conditional.get());
  params->bodies = reinterpret_cast<cuda::GraphHandle*>(&graph->bodies.back());
  return *node = add(graph, std::move(made)), success;
}
int cuGraphAddKernelNode_v2(Node** node, Graph* graph, Node* const* dependencies, std::size_t count,
                            const cuda::KernelNodeParams* params) {
  if (const int error = enter("cuGraphAddKernelNode_v2")) return error;
  if (const int error = context_error()) return error;
  const Lock lock(state().mutex);
  if (!in_a_line(graph, dependencies, count)) return invalid_value;
  return *node = add(graph, node_of(*params)), success;
}
int cuGraphAddMemsetNode(Node** node, Graph* graph, Node* const* dependencies, std::size_t count,
                         const cuda::MemsetNodeParams* params, Context* context) {
  if (const int error = enter("cuGraphAddMemsetNode")) return error;
  const Lock lock(state().mutex);
  if (context != current_context() || !in_a_line(graph, dependencies, count) ||
      params->element_bytes != 1 || params->height != 1) {
    return invalid_value;
  }
  return *node = add(graph, node_of(*params)), success;
}
int cuGraphGetNodes(Graph* graph, Node** nodes, std::size_t* count) {
  const Lock lock(state().mutex);
  for (std::size_t i = 0; nodes != nullptr && i < *count; ++i) nodes[i] = graph->nodes[i];
  if (nodes == nullptr) *count = graph->nodes.size();
  return success;
}
int cuGraphNodeGetType(const Node* node, cuda::GraphNodeType* type) {
  *type = node->kernel != nullptr ? cuda::GraphNodeType::kernel : cuda::GraphNodeType::memset;
  return success;
}
int cuGraphKernelNodeSetAttribute(Node* node, cuda::LaunchAttributeId id,
                                  const cuda::LaunchAttributeValue* value) {
  if (const int error = enter("cuGraphKernelNodeSetAttribute")) return error;
  if (id != cuda::LaunchAttributeId::cluster_dimension) return invalid_value;
  std::copy_n(value->cluster_dimension, 3, node->cluster.begin());
  return success;
}

int cuGraphInstantiateWithFlags(Executable** executable, Graph* graph, unsigned long long) {
  if (const int error = enter("cuGraphInstantiateWithFlags")) return error;
  const Lock lock(state().mutex);
  auto* made = new Executable{graph->retained, {}};
  for (Node* node : graph->nodes) made->nodes.emplace_back(node, *node);
  ++executables;
  return *executable = made, success;
}
int cuGraphUpload(Executable*, Stream*) { return success; }
int cuGraphExecKernelNodeSetParams_v2(Executable* executable, const Node* original,
                                      const cuda::KernelNodeParams* params) {
  if (const int error = enter("cuGraphExecKernelNodeSetParams_v2")) return error;
  if (reinterpret_cast<const Kernel*>(params->function) == &nothing) return success;
  const Lock lock(state().mutex);
  Node* const node = node_in(executable, original);
  if (node == nullptr || node->kernel == nullptr) return invalid_value;
  const std::array<unsigned, 3> cluster = node->cluster;
  *node = node_of(*params);
  node->cluster = cluster;
  return success;
}
int cuGraphExecMemsetNodeSetParams(Executable* executable, const Node* original,
                                   const cuda::MemsetNodeParams* params, Context* context) {
  if (const int error = enter("cuGraphExecMemsetNodeSetParams")) return error;
  const Lock lock(state().mutex);
  Node* const node = node_in(executable, original);
  if (node == nullptr || node->kernel != nullptr || context != current_context())
    return invalid_value;
  *node = node_of(*params);
  return success;
}
int cuGraphLaunch(Executable* executable, Stream* stream) {
  if (const int error = enter("cuGraphLaunch")) return error;
  if (const int error = stream_error(stream)) return error;
  if (stream->capture != nullptr) return capture_unsupported;
  if (executable->nodes.front().second.kernel == &nothing) return success;
  const Lock lock(state().mutex);
  for (const auto& [original, node] : executable->nodes) submit(stream, node);
  return success;
}
int cuGraphExecDestroy(Executable* executable) {
  const std::shared_ptr<Retained> retained = executable->retained;  // the same
  const Lock lock(state().mutex);
  --executables;
  return delete executable, success;
}
}
