#pragma once

#include <cstdint>

#include "ir/graph/graph.h"

/// A well-formed graph of about `length` ops drawn over the whole table, with symbols, facts, views
/// of every kind, several outputs and nodes that no output needs. Equal seeds give equal graphs.
/// With `test_calls` it has calls with several results and regions, of ops that only tests know.
heddle::ir::Graph random_graph(std::uint64_t seed, int length, bool test_calls = false);
