#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/interpreter/host_array.h"
#include "ir/types/call.h"

namespace heddle::ir {

namespace calls {

/// An exchange among the processes of a communicator. Operands: the elements; then, perhaps, the
/// status of the collective before it, which gives the order. Results: what this process receives,
/// and a status, i64: -1. Attributes: `kind` (see CollectiveKind), the name of the `communicator`,
/// its `size`; `reduction`, for those that reduce; `root`, for those that have one; `to` and
/// `from`, the ranks of "exchange", negative for none.
const CallOp& collective();

}  // namespace calls

/// What a collective does. `x` is operand 0, of which each process has one; n is the size of the
/// communicator.
enum class CollectiveKind : std::uint8_t {
  all_reduce,      ///< the sum of all x, or another reduction
  reduce,          ///< the same for the root; x for others
  broadcast,       ///< the root's x
  all_gather,      ///< all x, stacked along a new first axis
  gather,          ///< the same for the root; zeros for others
  scatter,         ///< the root's x[rank]; x has n slices
  reduce_scatter,  ///< all_reduce(x)[rank]; x has n slices
  all_to_all,      ///< slice i is slice `rank` of the x of process i; x has n slices
  exchange         ///< the x of the process `from`, while x is sent to `to`; zeros from none
};

/// "all_reduce" and so on.
std::string_view name_of(CollectiveKind kind);
/// The inverse. Throws InternalError for another name.
CollectiveKind collective_kind(std::string_view name);
/// Whether x has a slice for each process.
bool takes_slices(CollectiveKind kind);
/// Whether the result has a slice for each process that x has not.
bool adds_slices(CollectiveKind kind);

/// Runs collectives of more than one process for the interpreter, which has no communicators of its
/// own. Set by the runtime when it has the first.
using CollectiveInterpreter = std::vector<HostArray> (*)(const CallArguments& arguments);
void set_collective_interpreter(CollectiveInterpreter interpreter);

}  // namespace heddle::ir
