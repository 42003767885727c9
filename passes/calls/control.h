#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "passes/calls/lowering.h"
#include "passes/program/program.h"

// Steps of the ops that run their regions: control.scan, control.while and control.switch. Each
// region is a program of its own (CallStep::bodies), whose kernels are kernels of the whole
// program. Its inputs are the region's parameters, its outputs the region's results.

namespace heddle::passes {

/// For each carry that a loop's body returns: the carry whose memory the new value is in, whether
/// updated in place, moved from another carry or not changed. No two have the same one. nullopt for
/// values in memory of their own. Input `first` of the body is the first carry.
std::vector<std::optional<std::size_t>> carries_in_place(const Program& body, std::size_t first,
                                                         std::size_t carries);

DescribedCall describe_scan(CallBuilder& builder);
DescribedCall describe_while(CallBuilder& builder);
DescribedCall describe_switch(CallBuilder& builder);

}  // namespace heddle::passes
