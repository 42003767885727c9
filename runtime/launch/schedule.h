#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "passes/program/constants.h"
#include "passes/program/program.h"
#include "runtime/calls/call_handler.h"
#include "runtime/launch/arguments.h"
#include "runtime/launch/prepared.h"

namespace heddle::runtime {

struct ScheduledCall;

/// One operation that a call enqueues on the device.
struct Action {
  enum class Kind : std::uint8_t {
    launch,  ///< `blocks` of `step`'s kernel; its arguments are the action's slots
    clear,   ///< sets `bytes` bytes to 0 at the address in the action's slot
    call     ///< a library call that a handler has prepared
  };
  Kind kind = Kind::launch;
  const passes::KernelStep* step = nullptr;
  std::int64_t blocks = 0;
  std::size_t bytes = 0;
  const ScheduledCall* call = nullptr;
  std::uint32_t step_index = 0;  ///< index in the program
  std::uint32_t first_slot = 0, slot_count = 0;
  std::uint32_t rows = 0;  ///< of the table of launches that the slots are; 0: it is no table
};

/// The source of an argument known only at the call: a buffer's address, or a scalar.
struct SlotSource {
  std::uint32_t slot = 0, action = 0;
  bool is_scalar = false;
  std::uint32_t scalar = 0;  ///< input index
  passes::BufferRef buffer;
};

/// Steps for one set of extents as a flat list of actions. The arguments of all kernels are laid
/// out in slots; slots that are the same in every call are already filled.
class ActionList {
 public:
  /// Adds the actions of a step; `index` is the step's index in the program. Keeps a reference to
  /// the step.
  void add(const passes::Step& step, std::uint32_t index, const CallContext& context);
  /// Removes all actions, and keeps the lists' memory.
  void clear();

  std::span<const Action> actions() const { return actions_; }
  std::span<const ir::ElementBits> slots() const { return slots_; }
  std::span<const SlotSource> sources() const { return sources_; }
  /// Of all actions, as PreparedCall::graph_nodes().
  std::optional<std::size_t> graph_nodes() const;

 private:
  void add_call(const passes::CallStep& call, std::uint32_t index, const CallContext& context);
  void add_launch(const passes::KernelStep& step, std::uint32_t index, const CallContext& context);
  void add_row(const passes::KernelStep& step, std::int64_t blocks, std::uint32_t index,
               const CallContext& context);
  void set_slots(const passes::KernelStep& step, std::uint32_t first, const CallContext& context);
  void add_clear(const passes::BufferRef& buffer, std::size_t bytes, std::uint32_t index);

  std::vector<Action> actions_;
  std::vector<ir::ElementBits> slots_;
  std::vector<SlotSource> sources_;
  // Storage that actions point to.
  std::vector<std::unique_ptr<const ScheduledCall>> calls_;
  std::vector<std::vector<passes::KernelStep>> launches_;  ///< made by handlers
};

/// As PreparedCall::graph_nodes().
std::optional<std::size_t> graph_nodes(const Action& action);

/// The fallback of a library call.
struct ScheduledFallback {
  ActionList list;
  std::vector<std::size_t> bytes;  ///< of passes::Fallback::buffers
};

/// A library call with all sizes evaluated, and its fallback if it has one.
struct ScheduledCall {
  std::unique_ptr<const PreparedCall> work;
  std::unique_ptr<const ScheduledFallback> fallback;
};

/// The actions whose results are the same in each call (passes::ConstantPart), and their memory.
struct ConstantActions {
  ActionList list;
  std::vector<bool> results;  ///< of the program's temporaries, those that other actions read
  passes::Arena held;         ///< of the results
  passes::Arena scratch;      ///< of other temporaries, while the actions run
  Label label;
};

/// A program scheduled for one set of extents.
class Schedule {
 public:
  /// Keeps a reference to the program. Throws as prepare(), bind_arguments() and handlers do.
  Schedule(const passes::Program& program, std::span<const ArgumentView> arguments, Device device,
           const ir::Graph* graph);
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  /// Schedules the program again, for other arguments, in the same memory. After an exception, the
  /// schedule is for no arguments until it is set again.
  void set(const passes::Program& program, std::span<const ArgumentView> arguments, Device device,
           const ir::Graph* graph);

  /// Whether the arguments have the dtypes and shapes of this schedule.
  bool fits(std::span<const ArgumentView> arguments) const;

  const Prepared& prepared() const { return prepared_; }
  /// Those of each call.
  const ActionList& list() const { return list_; }
  std::span<const Action> actions() const { return list_.actions(); }
  /// Of the temporaries that these use, without the results of constant actions.
  const passes::Arena& arena() const { return arena_; }
  /// Null if there are none.
  const ConstantActions* constants() const { return constants_.get(); }

 private:
  struct Expected {
    bool is_scalar;
    ir::Type type;
  };

  void add_constants(const passes::Program& program, const passes::ConstantPart& part,
                     const CallContext& context);

  std::vector<Expected> expected_;
  Prepared prepared_;
  ActionList list_;
  passes::Arena arena_;
  std::unique_ptr<const ConstantActions> constants_;
};

/// The arguments of one call's kernels, with the array of pointers that a launch takes. Used by one
/// call at a time.
class ArgumentSlots {
 public:
  explicit ArgumentSlots(const ActionList& list);
  ArgumentSlots(const ArgumentSlots&) = delete;
  ArgumentSlots& operator=(const ArgumentSlots&) = delete;
  /// Takes the slots of another list, or of the same list with other sizes.
  void reset(const ActionList& list);

  /// `Memory` provides addresses and scalars: Frame, CallBuffers or ConstantMemory.
  template <class Memory>
  void set(const ActionList& list, const Memory& memory);
  std::span<const ir::ElementBits> values(const Action& action) const {
    return {slots_.data() + action.first_slot, action.slot_count};
  }
  void** pointers(const Action& launch) { return pointers_.data() + launch.first_slot; }
  /// A counter that increases whenever the action's arguments change.
  std::uint64_t version(std::size_t action) const { return versions_[action]; }

 private:
  std::vector<ir::ElementBits> slots_;
  std::vector<void*> pointers_;
  std::vector<std::uint64_t> versions_;
};

}  // namespace heddle::runtime
