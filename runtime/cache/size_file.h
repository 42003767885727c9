#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "ir/base/fork_gate.h"

namespace heddle::runtime::cache {

/// Seconds. A time further in the future than this comes from another machine's clock or a clock
/// that was set back, and is ignored.
inline constexpr std::int64_t clock_tolerance = 60;

/// The file that records the total size of a cache directory's entries. While an instance lives, it
/// holds the file's lock, so that counting, deleting and writing form one transaction across
/// threads and processes. If the file cannot be created, because the directory is not writable,
/// there is no number.
class SizeFile {
 public:
  explicit SizeFile(const std::string& directory);
  ~SizeFile();
  SizeFile(const SizeFile&) = delete;
  SizeFile& operator=(const SizeFile&) = delete;

  /// The recorded size. nullopt if the directory must be counted again: the number is missing or
  /// damaged, or the last count is older than the interval or lies in the future.
  std::optional<std::uint64_t> bytes(std::chrono::seconds interval) const;
  void set_bytes(std::uint64_t bytes) const;

 private:
  struct Content {
    std::uint64_t bytes = 0;
    std::int64_t summed = 0;  ///< time of the last full count of the directory
  };
  ir::ForkSection section_;  ///< a child forked while the lock is held would keep it
  int file_;
  mutable std::int64_t summed_;
};

}  // namespace heddle::runtime::cache
