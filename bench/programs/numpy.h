#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/programs/cases.h"

namespace heddle::bench {

/// Microseconds per call of each case in NumPy, measured now by bench/peers in a Python process:
/// HEDDLE_BENCH_PYTHON, else .venv/bin/python of the tree, else python3. Throws std::runtime_error
/// with the reason if that fails, for instance because bench/peers lacks a case.
std::map<std::string, double> numpy_times(const std::vector<Case>& cases, std::int64_t scale);

}  // namespace heddle::bench
