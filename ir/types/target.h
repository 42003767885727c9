#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::ir {

enum class TargetKind : std::uint8_t { host, cuda };

/// The machine properties that plans may depend on. Machines with equal Targets get the same
/// kernels. The real multiprocessor count and the occupancy are used only at launch.
struct Target {
  TargetKind kind = TargetKind::host;
  std::string architecture;  ///< "sm_90"; on the host the -march value, never "native"
  /// A class: sm_90:h200 has 132. 0 on the host.
  int multiprocessors = 0;
  int shared_bytes_per_block = 0;  ///< the largest amount that a block may request
  int registers_per_block = 0;
  int max_threads_per_block = 0;
  int max_cluster = 1;
  std::int64_t l2_bytes = 0;  ///< size of the last-level cache, also on the host
  int vector_bytes = 16;      ///< widest memory access: 16 on CUDA, the SIMD width on the host

  friend bool operator==(const Target&, const Target&) = default;
};

/// "cuda sm_90 sm=132 shared=232448 ...": the inverse of parse_target, and part of cache keys.
std::string to_string(const Target& target);
/// Parses the name of a built-in row ("sm_80", "sm_90", "sm_90:h200", "sm_100", "sm_120",
/// "x86-64-v3" ...) or the text of to_string. Throws ValueError that lists the rows.
Target parse_target(std::string_view text);
/// The names of the built-in rows, in table order.
std::vector<std::string_view> built_in_targets();
/// The built-in row closest to a machine, so that kernels compiled for the row on another machine
/// are found in the cache here. The row has the same architecture and block limits, and a
/// multiprocessor count within a third; of such rows, the one with the nearest L2 size. On the
/// host, the row with the same instruction set. Returns `target` if there is no such row.
Target nearest_built_in(const Target& target);

/// Further built-in rows whose code runs on `target`, best first: on a host, those of older
/// instruction sets. Does not contain `target` itself.
std::vector<Target> targets_below(const Target& target);

}  // namespace heddle::ir
