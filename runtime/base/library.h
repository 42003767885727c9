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

/// A library of which the functions in Api are called. It is opened when it is first asked for, and
/// never closed. Thread-safe.
template <class Api>
class Library {
 public:
  struct Definition {
    LibraryRequest request;
    std::string_view mend;     ///< what to do where it is missing
    std::string_view without;  ///< "matrices cannot be multiplied on the GPU"
    /// Why there is no use in opening it; empty where there is. Null: there is always.
    const std::string& (*unusable)() = nullptr;
    /// Fills the table, adds the names that are missing, and returns the version.
    std::string (*bind)(Api& api, const DynamicLibrary& library, std::string& missing) = nullptr;
  };

  explicit Library(Definition definition) : definition_(std::move(definition)) {}

  /// Why it cannot be used, with every place tried; empty where it can.
  const std::string& unavailable_reason() { return loaded().reason; }
  bool available() { return unavailable_reason().empty(); }
  /// Throws DeviceError where it cannot be used.
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
  ir::Lasting<Loaded> loaded_;
};

/// A library's handles that no thread is using, by GPU. A handle serves one call at a time, and is
/// never destroyed, as the driver may be gone by then.
template <class Handle>
class HandlePool {
 public:
  /// One of the pool, for a scope; `create` makes it where none is idle.
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
  /// For one more handle, so that put() needs no memory.
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
