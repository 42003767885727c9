#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "passes/program.h"
#include "runtime/executable.h"
#include "runtime/frame.h"
#include "runtime/prepared.h"

namespace heddle::runtime {

/// One thing that a call asks the device to do.
struct Action {
  enum class Kind : std::uint8_t {
    launch,  ///< `blocks` of `step`'s kernel; its arguments are the action's slots
    clear,   ///< `bytes` of 0 at the address that is the action's slot
    library  ///< the step, by a library or by the runtime itself
  };
  Kind kind = Kind::launch;
  const passes::KernelStep* step = nullptr;
  std::int64_t blocks = 0;
  std::size_t bytes = 0;
  std::uint32_t step_index = 0;  ///< of the program
  std::uint32_t first_slot = 0, slot_count = 0;
};

/// An argument that only a call knows: where a buffer lies, or a scalar.
struct SlotSource {
  std::uint32_t slot = 0, action = 0;
  bool is_scalar = false;
  std::uint32_t scalar = 0;  ///< input index
  passes::BufferRef buffer;
};

/// A program for one set of extents as a flat list of actions. The arguments of all kernels are
/// laid out in slots, where those that are the same in each call are there already.
class Schedule {
 public:
  /// Refers to the program. Throws as prepare() and bind_arguments() do.
  Schedule(const passes::Program& program, std::span<const ArgumentView> arguments,
           const ir::Graph* graph);
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  /// Whether the arguments are of the dtypes and shapes that it was made for.
  bool fits(std::span<const ArgumentView> arguments) const;

  const Prepared& prepared() const { return prepared_; }
  std::span<const Action> actions() const { return actions_; }
  std::span<const ir::ElementBits> slots() const { return slots_; }
  std::span<const SlotSource> sources() const { return sources_; }

 private:
  struct Expected {
    bool is_scalar;
    ir::Type type;
  };
  void add_launch(std::uint32_t index, const passes::KernelStep& step,
                  const PreparedKernel& kernel);
  void add_clear(std::uint32_t index, const passes::BufferRef& buffer, std::size_t bytes);
  void add_slot(const SlotSource& source);

  std::vector<Expected> expected_;
  Prepared prepared_;
  std::vector<Action> actions_;
  std::vector<ir::ElementBits> slots_;
  std::vector<SlotSource> sources_;
};

/// The arguments of one call's kernels, with pointers to them as a launch wants. Of one call at a
/// time.
class ArgumentSlots {
 public:
  explicit ArgumentSlots(const Schedule& schedule);
  ArgumentSlots(const ArgumentSlots&) = delete;
  ArgumentSlots& operator=(const ArgumentSlots&) = delete;

  void set(const Schedule& schedule, const Frame& frame);
  std::span<const ir::ElementBits> values(const Action& action) const {
    return {slots_.data() + action.first_slot, action.slot_count};
  }
  void** pointers(const Action& launch) { return pointers_.data() + launch.first_slot; }
  /// Whether an argument of the action has changed since it was last settled.
  bool changed(std::size_t action) const { return changed_[action] != 0; }
  void settle(std::size_t action) { changed_[action] = 0; }

 private:
  std::vector<ir::ElementBits> slots_;
  std::vector<void*> pointers_;
  std::vector<char> changed_;
};

}  // namespace heddle::runtime
