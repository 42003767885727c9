#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ir/base/fork_gate.h"
#include "ir/graph/graph.h"
#include "runtime/device/device.h"
#include "runtime/device/pool.h"

namespace heddle::runtime {

/// What is about to happen to memory, or has happened.
enum class MemoryStep : std::uint8_t {
  before_allocate,  ///< a block for an array or for temporaries
  after_allocate,
  before_reserve,  ///< memory taken from the device, or from the user's allocator
  after_reserve,
  before_free,  ///< a block that nothing refers to any more
  after_free
};

/// The memory of a step.
struct MemoryEvent {
  Device device;
  std::size_t requested = 0;      ///< bytes that were asked for; 0 for the freeing of a block
  std::size_t bytes = 0;          ///< the same, rounded up as the memory is given
  const void* pointer = nullptr;  ///< null before the memory is there, and if there is none
  std::uintptr_t block = 0;       ///< a number that no other held block has; 0 for reservations
  Label label;                    ///< purpose of the memory; null if unknown
  ir::Location line;              ///< in the user's program; no file if unknown
};

/// A function of the user that is called at each step. Thread-safe.
class MemoryHook {
 public:
  virtual ~MemoryHook() = default;
  /// Called outside of fork sections, with no lock held. What it throws, the call throws that
  /// allocates; at the freeing of a block, it is logged. Memory that it allocates itself is not
  /// reported.
  virtual void notify(MemoryStep step, const MemoryEvent& event) = 0;
};

/// Adds a hook for all threads, after those that there are. Returns a number for
/// remove_memory_hook().
int add_memory_hook(std::shared_ptr<MemoryHook> hook);
/// Removes a hook. Another thread may be in it still.
void remove_memory_hook(int number);

/// Whether there are hooks that this thread has to call: false in a hook. One relaxed load if there
/// are none.
bool has_memory_hooks() noexcept;
/// Calls all hooks, in their order. Throws what they throw. The calling thread must hold no lock of
/// the library.
void call_memory_hooks(MemoryStep step, const MemoryEvent& event);

namespace detail {
/// Calls the hooks for a block that is freed; what they throw is logged.
void notify_of_free(MemoryStep step, const MemoryEvent& event) noexcept;
/// Both steps, when this thread leaves its fork sections.
void notify_of_free_later(const MemoryEvent& event) noexcept;
}  // namespace detail

/// Calls hooks for the freeing of a block by `free`. In a fork section, where hooks must not be
/// called, the block is freed at once, and the hooks are called when the section ends.
template <class Free>
void free_with_hooks(const MemoryEvent& event, const Free& free) noexcept {
  if (ir::in_fork_section()) {
    free();
    detail::notify_of_free_later(event);
    return;
  }
  detail::notify_of_free(MemoryStep::before_free, event);
  free();
  detail::notify_of_free(MemoryStep::after_free, event);
}

}  // namespace heddle::runtime
