#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "ir/base/fork_gate.h"

namespace heddle::runtime::cache {

/// Times that lie ahead by more than these seconds are another machine's, or of a clock that was
/// set back, and say nothing.
inline constexpr std::int64_t clock_tolerance = 60;

/// The file of a cache's directory that says how many bytes its entries have. While one lives, no
/// other thread or process has it, so that what is counted, deleted and written in between belongs
/// together. Where there is no such file, as the directory cannot be written, there is no number.
class SizeFile {
 public:
  explicit SizeFile(const std::string& directory);
  ~SizeFile();
  SizeFile(const SizeFile&) = delete;
  SizeFile& operator=(const SizeFile&) = delete;

  /// nullopt where the directory has to be added up: the number is missing, damaged, or from a sum
  /// that is older than the interval or lies ahead.
  std::optional<std::uint64_t> bytes(std::chrono::seconds interval) const;
  void set_bytes(std::uint64_t bytes) const;

 private:
  struct Content {
    std::uint64_t bytes = 0;
    std::int64_t summed = 0;  ///< when the directory was last added up
  };
  ir::ForkSection section_;  ///< a child that is forked meanwhile would keep the lock
  int file_;
  mutable std::int64_t summed_;
};

}  // namespace heddle::runtime::cache
