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

/// One multiplication, with all that the library is called with but the algorithm.
struct Call {
  Handle handle = nullptr;
  const Description& description;
  const void *a, *b, *residual;
  void* out;
  const void *alpha, *beta;  ///< of the type that is computed in
  void* workspace;
  std::size_t workspace_bytes;
  const Stream& stream;

  Status run(const Choice& choice, void* into) const;
};

/// The algorithm for the problem, kept for the process and in the cache on disk; nothing where the
/// library refuses. It is the library's own first choice or, where autotuning() is on and the
/// stream is not being captured, the fastest of its first few, timed with the call's operands.
/// Results are the same to rounding, and from then on the same bits.
std::optional<Choice> choice_of(const Problem& problem, const Call& call);

}  // namespace heddle::runtime::cublaslt
