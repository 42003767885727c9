#pragma once

#include <atomic>
#include <cstdint>

/// Fault injection. Every point where an external operation can fail calls `fault::point` first. If
/// that returns true, the code fails exactly as if the real operation had failed.
namespace heddle::runtime::fault {

enum class Kind : std::uint8_t { allocation, compile, load, launch, file };
inline constexpr int kind_count = 5;

namespace detail {
extern std::atomic<bool> watching;
bool hit(Kind kind);
}  // namespace detail

/// True if this point must fail now. One relaxed load while no test is watching.
[[nodiscard]] inline bool point(Kind kind) {
  return detail::watching.load(std::memory_order_relaxed) && detail::hit(kind);
}

/// While an instance lives, points of `kind` are counted, and the `fail_at`-th from now (counting
/// from 0) fails, once. A negative `fail_at` only counts. At most one instance for each kind.
class Watch {
 public:
  explicit Watch(Kind kind, std::int64_t fail_at = -1);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Points passed since construction.
  std::int64_t count() const;
  bool fired() const;

 private:
  Kind kind_;
};

}  // namespace heddle::runtime::fault
