#pragma once

#include <functional>

#include "tests/cases/case.h"

namespace heddle::test {

/// The smallest case found for which `fails` still holds: outputs, nodes and options are dropped,
/// nodes become inputs of the value that they have, and extents get smaller. `fails` is called at
/// most `budget` times.
Case shrink(Case one, const std::function<bool(const Case&)>& fails, int budget);

}  // namespace heddle::test
