#include "runtime/base/host_memory.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::runtime {

namespace {

using std::filesystem::path;

/// The number in a file that holds only a number; nullopt for "max", or if there is no such file.
std::optional<std::size_t> number_in(const path& file) {
  std::ifstream stream(file);
  std::size_t number = 0;
  if (stream >> number) return number;
  return std::nullopt;
}

/// The number after `name` in a file of lines like "MemAvailable:  1024 kB".
std::optional<std::size_t> number_behind(const path& file, std::string_view name) {
  std::ifstream stream(file);
  for (std::string word; stream >> word;) {
    std::size_t number = 0;
    if (word == name && stream >> number) return number;
  }
  return std::nullopt;
}

std::size_t left(std::size_t most, std::size_t used) { return most - std::min(most, used); }

/// Bytes that a control group can still allocate. Inactive file pages count as free: the kernel
/// reclaims them on demand.
std::size_t left_by_group(const path& limit, const path& usage, const path& statistics,
                          std::string_view inactive) {
  const std::optional<std::size_t> most = number_in(limit), used = number_in(usage);
  if (!most || !used) return SIZE_MAX;
  return left(*most, left(*used, number_behind(statistics, inactive).value_or(0)));
}

}  // namespace

std::size_t host_free_bytes(const path& root) {
  const path information = root / "proc/meminfo", groups = root / "sys/fs/cgroup",
             first_version = groups / "memory";
  constexpr std::size_t kib = 1024;
  std::size_t free = SIZE_MAX;
  if (const auto available = number_behind(information, "MemAvailable:")) {
    free = (*available + number_behind(information, "SwapFree:").value_or(0)) * kib;
  }
  free = std::min(free, left_by_group(groups / "memory.max", groups / "memory.current",
                                      groups / "memory.stat", "inactive_file"));
  return std::min(free, left_by_group(first_version / "memory.limit_in_bytes",
                                      first_version / "memory.usage_in_bytes",
                                      first_version / "memory.stat", "total_inactive_file"));
}

std::size_t host_free_bytes() { return host_free_bytes("/"); }

}  // namespace heddle::runtime
