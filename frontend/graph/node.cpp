#include "frontend/graph/node.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "frontend/graph/hash_combiner.h"
#include "frontend/graph/node_memory.h"
#include "ir/base/fork_gate.h"
#include "runtime/base/per_thread.h"

namespace heddle::frontend {
namespace {

/// Nodes to destroy while this thread destroys a node, so that destroying a long chain does not
/// recurse.
struct Graveyard {
  bool is_destroying = false;
  std::vector<Node*> waiting;
};

/// Guards Node::results_ of all calls.
constinit ir::Mutex results_mutex;

/// All recorders. Never destroyed, because threads may end during process exit.
struct Recorders {
  ir::Mutex mutex;
  std::unordered_set<const Recorder*> all;
};
Recorders& recorders() {
  static Recorders& recorders = *new Recorders;
  return recorders;
}

}  // namespace

void Node::release(Node* node) {
  Recorder::remove(*node);
  node->leave_call();
  auto& graveyard = runtime::per_thread<Graveyard>();
  graveyard.waiting.push_back(node);
  if (graveyard.is_destroying) return;
  graveyard.is_destroying = true;
  while (!graveyard.waiting.empty()) {
    Node* const next = graveyard.waiting.back();
    graveyard.waiting.pop_back();
    next->~Node();
    free_node_memory(next);
  }
  graveyard.is_destroying = false;
}

bool Node::try_acquire() {
  std::uint32_t count = references_.load(std::memory_order_relaxed);
  while (count != 0) {
    if (references_.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel)) return true;
  }
  return false;
}

std::span<const NodeRef> Node::operands() const {
  if (!more_operands_.empty()) return more_operands_;
  return {operands_.data(), operand_count_};
}

void Node::set_operands(std::span<const NodeRef> operands) {
  operand_count_ = static_cast<std::uint32_t>(operands.size());
  if (operands.size() > operands_.size()) {
    more_operands_.assign(operands.begin(), operands.end());
  } else {
    std::copy(operands.begin(), operands.end(), operands_.begin());
  }
  if (op == ir::Op::result) join_call();
}

void Node::move_operands(std::span<NodeRef> operands) {
  if (operands.size() > operands_.size() || op == ir::Op::result) return set_operands(operands);
  operand_count_ = static_cast<std::uint32_t>(operands.size());
  std::ranges::move(operands, operands_.begin());
}

std::vector<NodeRef> Node::take_operands() {
  leave_call();
  std::vector<NodeRef> taken = std::move(more_operands_);
  more_operands_.clear();
  if (taken.empty()) {
    for (std::uint32_t i = 0; i < operand_count_; ++i) taken.push_back(std::move(operands_[i]));
  }
  operand_count_ = 0;
  return taken;
}

void Node::join_call() {
  const std::lock_guard lock(results_mutex);
  std::unique_ptr<std::vector<Node*>>& results = operands_[0]->results_;
  if (!results) results = std::make_unique<std::vector<Node*>>();
  results->push_back(this);
}

void Node::leave_call() {
  if (op != ir::Op::result || operand_count_ == 0) return;
  const std::lock_guard lock(results_mutex);
  std::erase(*operands_[0]->results_, this);
}

std::vector<NodeRef> Node::pending_results() const {
  std::vector<NodeRef> results;
  const std::lock_guard lock(results_mutex);
  if (!results_) return results;
  for (Node* const node : *results_) {
    if (!node->try_acquire()) continue;
    results.emplace_back().node_ = node;
  }
  return results;
}

void Node::set_value(runtime::DeviceArray array) {
  value = std::move(array);
  evaluated_.store(true, std::memory_order_release);
}

ir::Mutex& graph_mutex() {
  static constinit ir::Mutex mutex;
  return mutex;
}

Recorder::Recorder() {
  const std::lock_guard lock(recorders().mutex);
  recorders().all.insert(this);
}

Recorder::~Recorder() {
  const std::lock_guard lock(recorders().mutex);
  recorders().all.erase(this);
}

void Recorder::release() {
  bool unused = false;
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    unused = first_ == nullptr;
  }
  if (unused) delete this;
}

std::int64_t bytes_of(const Node& node) {
  const ir::Dim count = ir::element_count(node.shape);
  if (!count.is_constant()) return 0;
  return count.constant() * static_cast<std::int64_t>(size_of(node.dtype));
}

std::string_view op_name(const Node& node) {
  return node.op == ir::Op::call ? node.attributes->call->op->name : ir::info(node.op).name;
}

void Recorder::add(Node& node) {
  history_[recorded_++ % history_.size()] =
      HashCombiner()
          .hash(node.hash)
          .number(reinterpret_cast<std::uintptr_t>(node.site.location.file))
          .number((std::uint64_t{node.site.location.line} << 32) | node.site.column)
          .finish()
          .low;
  for (const NodeRef& operand : node.operands()) {
    // Threads that count the same array at once may count it twice: it is a bound.
    if (!operand->evaluated() || operand->pinned_in_.load(std::memory_order_relaxed) == window_)
      continue;
    operand->pinned_in_.store(window_, std::memory_order_relaxed);
    counted_bytes_ += bytes_of(*operand);
  }
  if (ir::kind_of(node.op) != ir::OpKind::view) counted_bytes_ += bytes_of(node);
  node.recorder_ = this;
  const std::lock_guard lock(mutex_);
  count_.store(pending_count() + 1, std::memory_order_relaxed);
  node.previous_ = last_;
  (last_ != nullptr ? last_->next_ : first_) = &node;
  last_ = &node;
}

void Recorder::remove(Node& node) {
  Recorder* recorder = std::exchange(node.recorder_, nullptr);
  if (recorder == nullptr) return;
  bool unused = false;
  {
    const std::lock_guard lock(recorder->mutex_);
    recorder->count_.store(recorder->pending_count() - 1, std::memory_order_relaxed);
    (node.previous_ != nullptr ? node.previous_->next_ : recorder->first_) = node.next_;
    (node.next_ != nullptr ? node.next_->previous_ : recorder->last_) = node.previous_;
    node.previous_ = node.next_ = nullptr;
    unused = recorder->abandoned_ && recorder->first_ == nullptr;
  }
  if (unused) delete recorder;
}

std::vector<NodeRef> Recorder::unclaimed() {
  std::vector<NodeRef> nodes;
  nodes.reserve(pending_count());
  const std::lock_guard lock(mutex_);
  for (Node* node = first_; node != nullptr; node = node->next_) {
    if (node->claimed() || !node->try_acquire()) continue;
    NodeRef reference;
    reference.node_ = node;
    nodes.push_back(std::move(reference));
  }
  return nodes;
}

std::uint64_t Recorder::new_window() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void Recorder::start_window() {
  window_ = new_window();
  counted_bytes_ = 0;
}

std::int64_t Recorder::total_pending() {
  const std::lock_guard lock(recorders().mutex);
  std::int64_t total = 0;
  for (const Recorder* const recorder : recorders().all)
    total += static_cast<std::int64_t>(recorder->pending_count());
  return total;
}

}  // namespace heddle::frontend
