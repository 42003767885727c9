#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "passes/program/step.h"

namespace heddle::passes {

/// How a GPU sorts.
struct SortKernels {
  enum class Method : std::uint8_t {
    merge,  ///< tiles, which hold several short rows or part of one; and where rows may be longer,
            ///< merge, of neighbouring runs of sorted elements, twice as long a launch
    radix   ///< all digits, of 8 bits, are counted, and a pass for each moves the elements
  };
  struct Kernel {
    std::uint32_t kernel = 0;  ///< index into Program::kernel_names
    std::uint32_t shared_bytes = 0;
    std::uint32_t threads = 0;  ///< of a block
    std::int64_t tile = 0;      ///< elements that a block takes
    friend bool operator==(const Kernel&, const Kernel&) = default;
  };
  Method method = Method::merge;
  std::vector<Kernel> kernels;
  friend bool operator==(const SortKernels&, const SortKernels&) = default;
};

/// Sorts each of `rows` rows of `length` elements, as ir::calls::sort and argsort say.
struct SortCall {
  DType dtype = DType::f32;  ///< of the keys
  bool indices = false;      ///< `out` takes where each element comes from, in i64, else the keys
  Dim rows, length;
  BufferRef keys, out;
  std::vector<BufferRef> scratch;      ///< as passes::scratch_bytes says
  std::optional<SortKernels> kernels;  ///< on the host the runtime sorts
};

inline constexpr std::string_view sort_handler = "sort";

CallStep to_call(const SortCall& sort);
/// Inverse of to_call. Throws InternalError for other calls.
SortCall sort_of(const CallStep& call);

}  // namespace heddle::passes
