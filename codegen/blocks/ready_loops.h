#pragma once

#include <string>

#include "heddle/dtype.h"

#include "ir/types/op.h"

namespace heddle::codegen {

/// Ready-made loops: each applies one op to contiguous arrays of one dtype. They are compiled when
/// Heddle is built, once for each instruction set, and run kernels that are not compiled yet. The
/// scalar code is that of kernels, so results have the same bits, but for the sign and the payload
/// of NaN.

/// The symbol of the loop of an elementwise op or a search, or of the loops of a reduction or scan:
/// "add_f32".
std::string loops_of(ir::Op op, DType dtype);
/// "cast_f32_i64"
std::string cast_loop(DType from, DType to);
/// The symbol of a scan that restarts: "cumsum_f32_segmented".
std::string segmented_loops_of(ir::Op op, DType dtype);

/// C++ text with part `part` of `parts` of all loops.
std::string print_ready_loops(int part, int parts);

}  // namespace heddle::codegen
