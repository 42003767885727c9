#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <pthread.h>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/source_location.h"

#include "ir/base/fork_gate.h"
#include "ir/base/kept_text.h"
#include "ir/graph/graph.h"
#include "runtime/execute/executable.h"

namespace heddle::frontend {

class Node;
class Recorder;
class Trace;

/// A running evaluation. The nodes that it computes point to it.
struct Evaluation {
  std::uint64_t generation = ir::fork_generation();
  pthread_t thread = pthread_self();
  bool is_own() const { return pthread_equal(thread, pthread_self()) != 0; }
  /// False in a forked child for evaluations of the parent's threads.
  bool alive() const { return generation == ir::fork_generation(); }
};

/// A counted reference to a node.
class NodeRef {
 public:
  NodeRef() = default;
  explicit inline NodeRef(Node* node);
  NodeRef(const NodeRef& other) : NodeRef(other.node_) {}
  NodeRef(NodeRef&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  NodeRef& operator=(NodeRef other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  inline ~NodeRef();

  Node* get() const { return node_; }
  Node* operator->() const { return node_; }
  Node& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }
  friend bool operator==(const NodeRef& a, const NodeRef& b) { return a.node_ == b.node_; }

 private:
  friend class Node;
  friend class Recorder;
  Node* node_ = nullptr;
};

/// Source location at which an op was recorded. Ops of one expression differ in column or op kind.
struct Site {
  ir::Location location;
  std::uint32_t column = 0;

  Site() = default;
  /// Copies the file name, because the original string disappears if its library is unloaded.
  Site(const SourceLocation& where)  // NOLINT: locations are sites
      : location{where.file_name()[0] == '\0' ? nullptr : ir::interned_file_name(where.file_name()),
                 where.line()},
        column(where.column()) {}
  friend bool operator==(const Site& a, const Site& b) {
    return a.location.file == b.location.file && a.location.line == b.location.line &&
           a.column == b.column;
  }
};

/// One recorded op, or a value. Immutable for its holders, except that evaluation turns a pending
/// op into a value once. Reference-counted; destruction does not recurse.
class Node {
 public:
  enum class Kind : std::uint8_t {
    operation,  ///< op(operands)
    array,      ///< an evaluated array
    scalar,     ///< a C++ scalar that is a program argument: `bits`
    constant,   ///< a scalar that is a constant of programs: `bits`
    parameter   ///< an input of the trace `trace_id`: `index`
  };

  Kind kind = Kind::operation;
  ir::Op op = ir::Op::parameter;
  DType dtype = DType::f32;
  bool weak = false;  ///< a traced scalar, which takes the dtype of the arrays it is combined with
  bool scalar_parameter = false;
  bool unset = false;  ///< of empty(): a user's kernel that is given the memory need not find zeros
  std::uint32_t index = 0;     ///< of a trace's input, or of its operation in order of recording
  std::uint64_t trace_id = 0;  ///< 0: not of a trace
  ir::ElementBits bits;        ///< of scalar parameters: the index of the scalar argument
  ir::Hash128 hash;            ///< of op, dtype and attributes except starts; excludes the operands
  ir::Shape shape;
  std::unique_ptr<ir::Attributes> attributes;  ///< null where all are default
  Site site;
  /// For slice and slice_update, a bit for each axis whose start is a program argument instead of a
  /// constant, because the same call site has used several starts.
  std::uint32_t dynamic_starts = 0;

  /// True for a number that is known: `bits`. Once it is an array in memory, kernels of the user
  /// may write that.
  bool is_number() const {
    return (kind == Kind::scalar || kind == Kind::constant) && !evaluated();
  }
  /// True once `value` is set; it is then immutable.
  bool evaluated() const { return evaluated_.load(std::memory_order_acquire); }
  /// Operands of an unevaluated operation. Guarded by graph_mutex() once other threads can see the
  /// node.
  std::span<const NodeRef> operands() const;
  void set_operands(std::span<const NodeRef> operands);
  /// Moves the references.
  void move_operands(std::span<NodeRef> operands);
  std::vector<NodeRef> take_operands();

  /// For a call: its other results that are alive and pending. They are computed with the call.
  std::vector<NodeRef> pending_results() const;

  /// For a pending operation: the device of the arrays that it is computed from. See placement.h.
  const std::optional<runtime::Device>& planned_device() const { return planned_device_; }
  void plan_for(std::optional<runtime::Device> device) { planned_device_ = device; }

  runtime::DeviceArray value;
  void set_value(runtime::DeviceArray array);
  /// True for an evaluated array with a single reference.
  bool unique() const { return references_.load(std::memory_order_acquire) == 1; }
  std::uint32_t references() const { return references_.load(std::memory_order_acquire); }
  /// Takes a reference unless the node is already being destroyed.
  bool try_acquire();

  // Scratch fields of a graph walk; guarded by graph_mutex().
  std::uint64_t walk = 0;
  std::uint32_t position = 0;
  std::uint32_t internal_references = 0;
  bool escapes = false;
  Evaluation* claim = nullptr;  ///< the evaluation that computes it, or did before a fork
  bool claimed() const { return claim != nullptr && claim->alive(); }

 private:
  friend class NodeRef;
  friend class Recorder;
  static void release(Node* node);
  void join_call();
  void leave_call();
  ~Node() = default;

  std::atomic<std::uint32_t> references_{0};
  std::atomic<bool> evaluated_{false};
  std::uint32_t operand_count_ = 0;
  std::array<NodeRef, 3> operands_;
  std::vector<NodeRef> more_operands_;           ///< all operands if there are more than three
  std::unique_ptr<std::vector<Node*>> results_;  ///< of a call; guarded by one mutex for all calls

  Recorder* recorder_ = nullptr;  ///< of pending operations outside of traces
  Node* previous_ = nullptr;
  Node* next_ = nullptr;
  std::atomic<std::uint64_t> pinned_in_{0};  ///< the window in which the recorder counted its bytes
  std::optional<runtime::Device> planned_device_;
};

NodeRef::NodeRef(Node* node) : node_(node) {
  if (node_ != nullptr) node_->references_.fetch_add(1, std::memory_order_relaxed);
}

NodeRef::~NodeRef() {
  if (node_ != nullptr && node_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
    Node::release(node_);
}

/// The current value of an Array. A copy of an Array has its own cell. A trace that uses an Array
/// shares its cell; the cell then stays with the variable when the value is moved.
struct Cell {
  NodeRef node;
  std::uint64_t trace_id = 0;  ///< the trace in which it was made; 0: none
  std::atomic<std::uint32_t> references{1};
  std::atomic<bool> abandoned{false};  ///< shared, and its Array was destroyed

  bool shared() const { return references.load(std::memory_order_relaxed) > 1; }
};

class CellRef {
 public:
  CellRef() = default;
  explicit CellRef(Cell* cell) : cell_(cell) {
    if (cell_ != nullptr) cell_->references.fetch_add(1, std::memory_order_relaxed);
  }
  CellRef(const CellRef& other) : CellRef(other.cell_) {}
  CellRef(CellRef&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
  CellRef& operator=(CellRef other) noexcept {
    std::swap(cell_, other.cell_);
    return *this;
  }
  ~CellRef() { release(cell_); }
  static CellRef create() {
    CellRef cell;
    cell.cell_ = new Cell;
    return cell;
  }
  Cell* get() const { return cell_; }
  Cell* operator->() const { return cell_; }

  static void release(Cell* cell) {
    if (cell != nullptr && cell->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete cell;
    }
  }

 private:
  Cell* cell_ = nullptr;
};

/// Guards the edges, walk fields and claims of all nodes. The evaluation that has claimed an
/// operation may read its operands without the lock. Held during walks, but never while compiling,
/// running, or destroying nodes.
ir::Mutex& graph_mutex();

/// The pending operations recorded by one thread, in order. Exists until the thread has ended and
/// the last of these operations is gone.
class Recorder {
 public:
  /// The recorder of the calling thread.
  static Recorder& current();

  /// Adds a new pending operation.
  void add(Node& node);
  /// Removes an operation that got a value or is being destroyed.
  static void remove(Node& node);
  /// References to all live operations that no run is computing, oldest first. graph_mutex() must
  /// be held.
  std::vector<NodeRef> unclaimed();
  std::size_t pending_count() const { return count_.load(std::memory_order_relaxed); }
  /// Bytes of the distinct arrays read by operations recorded in this window, plus bytes of their
  /// results except views. An upper bound of the memory that their evaluation uses.
  std::int64_t counted_bytes() const { return counted_bytes_; }
  /// Starts a new window, after the thread has evaluated.
  void start_window();

  /// The number of operations that the thread has recorded, and identifiers of the last ones. Equal
  /// identifiers mean the same op at the same call site.
  std::uint64_t recorded() const { return recorded_; }
  std::uint64_t operation(std::uint64_t number) const { return history_[number % history_.size()]; }
  static constexpr std::size_t history_length = 4096;

  /// Number of pending operations of all threads.
  static std::int64_t total_pending();

  Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  /// Called by the thread when it ends.
  void release();

 private:
  static std::uint64_t new_window();
  ~Recorder();

  ir::Mutex mutex_;         ///< guards the list, and is held where count_ changes
  bool abandoned_ = false;  ///< the thread has ended; guarded by mutex_
  std::atomic<std::size_t> count_{0};
  Node* first_ = nullptr;
  Node* last_ = nullptr;
  std::uint64_t window_ = new_window();  ///< unique among all threads
  std::uint64_t recorded_ = 0;
  std::vector<std::uint64_t> history_ = std::vector<std::uint64_t>(history_length);
  std::int64_t counted_bytes_ = 0;
};

std::int64_t bytes_of(const Node& node);
/// The op's name, e.g. "add"; for a call, the name of its call op.
std::string_view op_name(const Node& node);

}  // namespace heddle::frontend
