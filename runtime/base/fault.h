#pragma once

#include <atomic>
#include <cstdint>

/// Fault injection: every place where the outside world can fail asks `fault::point` first, and
/// where that says true the place fails in just the way that the real thing fails there.
namespace heddle::runtime::fault {

enum class Kind : std::uint8_t { allocation, compile, load, launch, file };
inline constexpr int kind_count = 5;

namespace detail {
extern std::atomic<bool> watching;
bool hit(Kind kind);
}  // namespace detail

/// True where this place must fail now. One relaxed load while no test is watching.
[[nodiscard]] inline bool point(Kind kind) {
  return detail::watching.load(std::memory_order_relaxed) && detail::hit(kind);
}

/// While one lives, points of `kind` are counted, and the `fail_at`-th from now (counting from 0)
/// fails, once. A negative `fail_at` only counts. One at a time for each kind.
class Watch {
 public:
  explicit Watch(Kind kind, std::int64_t fail_at = -1);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Points passed since this was made.
  std::int64_t count() const;
  bool fired() const;

 private:
  Kind kind_;
};

}  // namespace heddle::runtime::fault
