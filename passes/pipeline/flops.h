#pragma once

#include "passes/pipeline/program_builder.h"

namespace heddle::passes {

/// Floating-point operations of a step, counted as on paper. Every elementwise op counts 1 for each
/// element that it is evaluated for (complex: 2, complex multiplication: 6). A reduction or scan
/// counts 1 for each element of its operand (complex: 2). A matrix product counts 2 for each pair
/// of factors (complex: 8), plus its epilogue. A transform of n numbers counts 5 n log2(n) (real:
/// 2.5 n log2(n)). Integers, bools, casts, loads, address arithmetic
/// and sorts count 0. Values that a kernel recomputes in a later pass over the same row count once.
Dim flops(const PlannedProgram& planned, const Step& step);

}  // namespace heddle::passes
