#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::ir {

enum class TargetKind : std::uint8_t { host, cuda };

/// What plans may depend on, and nothing else: two machines of equal Target make the same kernels.
/// The true multiprocessor count and occupancy enter at launch.
struct Target {
  TargetKind kind = TargetKind::host;
  std::string architecture;        ///< "sm_90"; on the host the -march value, never "native"
  int multiprocessors = 0;         ///< class of: sm_90:h200 says 132; 0 on the host
  int shared_bytes_per_block = 0;  ///< what a block may opt in to
  int registers_per_block = 0;
  int max_threads_per_block = 0;
  int max_cluster = 1;
  std::int64_t l2_bytes = 0;  ///< last-level cache, on the host too
  int vector_bytes = 16;      ///< widest access: 16 on CUDA, the SIMD width on the host

  friend bool operator==(const Target&, const Target&) = default;
};

/// "cuda sm_90 sm=132 shared=232448 ..."; parse_target's inverse, and part of keys.
std::string to_string(const Target& target);
/// A built-in row ("sm_80", "sm_90", "sm_90:h200", "sm_100", "sm_120", "x86-64-v3" ...) or
/// to_string's text. Throws ValueError that lists the rows.
Target parse_target(std::string_view text);
/// The names of the built-in rows, in order.
std::vector<std::string_view> built_in_targets();
/// The built-in row that stands for a machine like this one, so that what was compiled for the row
/// on another machine is found here: the same architecture and limits of a block, multiprocessors
/// within a third, and of those rows the one of the nearest L2; on the host the row of its
/// instruction set. `target` itself where no row is near.
Target nearest_built_in(const Target& target);

/// The built-in rows, besides the target, whose code runs on a machine of it, the best first: those
/// of older instruction sets of a host.
std::vector<Target> targets_below(const Target& target);

}  // namespace heddle::ir
