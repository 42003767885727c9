#pragma once

#include <cstdint>
#include <vector>

#include "codegen/common/kernel_source.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::codegen {

/// A line of KernelSource::text(), counted from 1, and the node whose value it computes or stores.
struct LineNode {
  std::uint32_t line = 0;
  ir::ValueId node{};
};

/// The line of the whole text on which the kernel's own part begins.
std::uint32_t body_line(const KernelSource& source);
/// The lines of a printed plan that compute something, in order, found by the names that printers
/// give: instruction k is v<k>, and x<k>, h<k> and c<k> where it is held; reduction k is R<k>, a<k>
/// and t<k>, and what store k writes at once y<k>. Lines of addresses and of the library have no
/// node, those of sorts have none either.
std::vector<LineNode> source_lines(const KernelSource& source, const passes::KernelPlan& plan);

}  // namespace heddle::codegen
