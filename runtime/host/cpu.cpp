#include "runtime/host/cpu.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <fstream>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/environment.h"

namespace heddle::runtime {

namespace {

struct Level {
  const char* name;
  int vector_bytes;
};

#if defined(__x86_64__)
Level highest_level() {
  __builtin_cpu_init();
  const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  if (v4) return {"x86-64-v4", 64};
  if (v3) return {"x86-64-v3", 32};
  if (v2) return {"x86-64-v2", 16};
  return {"x86-64", 16};
}
#elif defined(__aarch64__)
Level highest_level() { return {"armv8-a", 16}; }
#else
Level highest_level() { return {"", 16}; }
#endif

/// Size of the last-level cache in bytes, rounded down to a power of two so that similar processors
/// share kernels.
std::int64_t last_cache_bytes() {
  std::int64_t bytes = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
  bytes = std::max<std::int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE));
#endif
  constexpr std::int64_t assumed = 32 << 20;
  if (bytes <= 0) return assumed;
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes)));
}

}  // namespace

ir::Target detect_host_target() {
  const Level level = highest_level();
  ir::Target out;
  out.kind = ir::TargetKind::host;
  out.architecture = level.name;
  out.vector_bytes = level.vector_bytes;
  out.l2_bytes = last_cache_bytes();
  return out;
}

ir::Target chosen_host_target() {
  const ir::Target own = ir::nearest_built_in(detect_host_target());
  const std::string wanted = ir::environment(ir::Variable::cpu_target);
  if (wanted.empty()) return own;
  std::vector<ir::Target> able = ir::targets_below(own);
  able.insert(able.begin(), own);
  std::string names;
  for (const ir::Target& each : able) {
    if (each.architecture == wanted) return each;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", each.architecture);
  }
  throw ValueError(fmt::format("{} is '{}'; this processor supports {}",
                               ir::info(ir::Variable::cpu_target).name, wanted, names));
}

std::string host_cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

std::size_t host_memory_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace heddle::runtime
