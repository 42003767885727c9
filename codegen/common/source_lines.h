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

/// The first line of the kernel's own part in the whole text.
std::uint32_t body_line(const KernelSource& source);
/// The lines of a printed plan that compute something, in order, found by variable names:
/// instruction k is v<k>, or x<k>, h<k> and c<k> if it is held in registers; reduction k is R<k>,
/// a<k> and t<k>; the value of store k is y<k>. Lines of addresses, of the library and of sort
/// kernels have no node.
std::vector<LineNode> source_lines(const KernelSource& source, const passes::KernelPlan& plan);

}  // namespace heddle::codegen
