#pragma once

#include <cstdint>

#include "tests/cases/case.h"

namespace heddle::test {

/// A random case of 2 to 40 ops over the whole table: all dtypes, ranks 0 to 6, extents 0, 1, odd
/// and symbolic, inputs that are sliced, flipped, scalars, unaligned or donated, several outputs.
/// One in four has a loop or branch, with others in it (control_maker.h). Values are kept where a
/// comparison of them says something. Equal seeds give equal cases.
Case random_case(std::uint64_t seed);

}  // namespace heddle::test
