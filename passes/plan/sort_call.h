#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "passes/program/step.h"

namespace heddle::passes {

/// The GPU implementation of a sort.
struct SortKernels {
  enum class Method : std::uint8_t {
    merge,  ///< sorts tiles, each with several short rows or a part of one; for longer rows, each
            ///< further launch merges pairs of sorted runs
    radix   ///< counts all 8-bit digits, then moves the elements once for each digit
  };
  struct Kernel {
    std::uint32_t kernel = 0;  ///< index into Program::kernel_names
    std::uint32_t shared_bytes = 0;
    std::uint32_t threads = 0;  ///< in a block
    std::int64_t tile = 0;      ///< elements for each block
    friend bool operator==(const Kernel&, const Kernel&) = default;
  };
  Method method = Method::merge;
  std::vector<Kernel> kernels;
  friend bool operator==(const SortKernels&, const SortKernels&) = default;
};

/// Sorts each of `rows` rows of `length` elements, with the order of ir::calls::sort and argsort.
struct SortCall {
  DType dtype = DType::f32;  ///< of the keys
  bool indices = false;      ///< `out` receives the i64 index of each element instead of the keys
  Dim rows, length;
  BufferRef keys, out;
  std::vector<BufferRef> scratch;      ///< sizes: passes::scratch_bytes
  std::optional<SortKernels> kernels;  ///< absent on the host, where the runtime sorts
};

inline constexpr std::string_view sort_handler = "sort";

CallStep to_call(const SortCall& sort);
/// Inverse of to_call. Throws InternalError for other calls.
SortCall sort_of(const CallStep& call);

}  // namespace heddle::passes
