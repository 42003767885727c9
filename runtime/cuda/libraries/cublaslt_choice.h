#pragma once

#include <optional>
#include <type_traits>

#include "runtime/cuda/libraries/cublaslt_problem.h"
#include "runtime/device/stream.h"

namespace heddle::runtime::cublaslt {

struct Choice {
  Algorithm algorithm{};
  std::uint64_t workspace_bytes = 0;
};
static_assert(std::is_trivially_copyable_v<Choice> && sizeof(Choice) == 72);

/// One multiplication with all arguments of the library call except the algorithm.
struct Call {
  Handle handle = nullptr;
  const Description& description;
  const void *a, *b, *residual;
  void* out;
  const void *alpha, *beta;  ///< in the scale type
  void* workspace;
  std::size_t workspace_bytes;
  const Stream& stream;

  Status run(const Choice& choice, void* into) const;
};

/// The algorithm for the problem, cached in the process and on disk; nullopt if the library
/// refuses. It is the library's preferred algorithm or, if autotuning() is on and the stream is not
/// being captured, the fastest of its first few, timed with the call's operands. Different
/// algorithms agree up to rounding; once chosen, results are bitwise reproducible.
std::optional<Choice> choice_of(const Problem& problem, const Call& call);

}  // namespace heddle::runtime::cublaslt
