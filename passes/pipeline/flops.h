#pragma once

#include "passes/pipeline/program_builder.h"

namespace heddle::passes {

/// Floating point operations of a step as one counts them on paper: an op of the table, whichever,
/// is 1 an element that it is evaluated for (2 for complex numbers, 6 for their product); a
/// reduction or scan is 1 an element that it takes in (complex 2); a matrix product 2 for each pair
/// of factors (complex 8), and what its epilogue does. Integers, bools, casts, loads, addresses and
/// sorts are 0. What a kernel computes again in a later walk over the same row counts once.
Dim flops(const PlannedProgram& planned, const Step& step);

}  // namespace heddle::passes
