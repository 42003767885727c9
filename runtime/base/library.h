#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/fork_gate.h"
#include "runtime/base/bound_library.h"

namespace heddle::runtime {

/// A dynamically loaded library whose functions are in the table Api. It is opened at first use and
/// never closed. Thread-safe.
template <class Api>
class Library {
 public:
  struct Definition {
    LibraryRequest request;
    std::string_view mend;     ///< what to do if it is missing
    std::string_view without;  ///< what does not work without it: "matrices cannot be multiplied on
                               ///< the GPU"
    /// Why opening the library would be useless; empty if it is not. Null: always try to open it.
    const std::string& (*unusable)() = nullptr;
    /// Fills the table, appends the names of missing functions, and returns the version.
    std::string (*bind)(Api& api, const DynamicLibrary& library, std::string& missing) = nullptr;
  };

  explicit Library(Definition definition) : definition_(std::move(definition)) {}

  /// Why the library cannot be used, with every location tried; empty if it can.
  const std::string& unavailable_reason() { return loaded().reason; }
  bool available() { return unavailable_reason().empty(); }
  /// Throws DeviceError if the library cannot be used.
  const Api& api() {
    const Loaded& state = loaded();
    if (!state.reason.empty())
      throw DeviceError(fmt::format("{}: {}", definition_.without, state.reason));
    return state.api;
  }

 private:
  struct Loaded {
    Api api;
    std::string reason;
  };

  const Loaded& loaded() {
    return loaded_.get([&] {
      Loaded made;
      if (definition_.unusable != nullptr) made.reason = definition_.unusable();
      if (!made.reason.empty()) return made;
      made.reason = bind_library(definition_.request, definition_.mend,
                                 [&](const DynamicLibrary& library, std::string& missing) {
                                   return definition_.bind(made.api, library, missing);
                                 });
      return made;
    });
  }

  Definition definition_;
  ir::LazyStatic<Loaded> loaded_;
};

/// Idle handles of a library, for each GPU. A handle serves one call at a time. Handles are never
/// destroyed, because the driver may already be unloaded at process exit.
template <class Handle>
class HandlePool {
 public:
  /// Leases a handle for a scope. `create` makes one if none is idle.
  class Lease {
   public:
    template <class Create>
    Lease(HandlePool& pool, int ordinal, const Create& create)
        : pool_(pool), ordinal_(ordinal), handle_(pool.take(ordinal)) {
      if (handle_ != Handle()) return;
      pool_.make_room();
      handle_ = create();
    }
    ~Lease() { pool_.put(ordinal_, handle_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    const Handle& get() const { return handle_; }

   private:
    HandlePool& pool_;
    int ordinal_;
    Handle handle_;
  };

 private:
  Handle take(int ordinal) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = idle_.size(); i-- > 0;) {
      if (idle_[i].first != ordinal) continue;
      Handle handle = std::move(idle_[i].second);
      idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
      return handle;
    }
    return Handle();
  }
  /// Reserves memory for one more handle, so that put() does not allocate.
  void make_room() {
    const std::lock_guard lock(mutex_);
    idle_.reserve(++made_);
  }
  void put(int ordinal, Handle handle) noexcept {
    const std::lock_guard lock(mutex_);
    idle_.emplace_back(ordinal, std::move(handle));
  }

  ir::Mutex mutex_;
  std::vector<std::pair<int, Handle>> idle_;
  std::size_t made_ = 0;
};

}  // namespace heddle::runtime
