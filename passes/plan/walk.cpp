#include "passes/plan/walk.h"

#include <algorithm>

#include "ir/types/capabilities.h"
#include "passes/plan/analyze.h"

namespace heddle::passes {

std::vector<const Instruction*> element_loads(const KernelPlan& plan) {
  std::vector<const Instruction*> loads;
  for (const Instruction& instruction : plan.body) {
    if (instruction.kind == Instruction::Kind::load && instruction.element)
      loads.push_back(&instruction);
  }
  return loads;
}

bool runs_along(const KernelPlan& plan, const Index& address, const Loop& loop) {
  const auto step = step_along(plan, address, loop);
  return step && *step == Dim(1);
}

double bytes_read(const KernelPlan& plan, const Instruction& load) {
  std::vector<AtomId> walked;
  plan.space->collect_loops(load.address, walked);
  auto bytes = static_cast<double>(size_of(load.dtype));
  for (const std::vector<Loop>* loops : {&plan.outer, &plan.inner}) {
    for (const Loop& loop : *loops) {
      if (std::ranges::find(walked, loop.atom) != walked.end())
        bytes *= static_cast<double>(known(loop.extent, 1 << 20));
    }
  }
  return bytes;
}

bool reads_columnwise(const KernelPlan& plan, const ir::Target& target) {
  if (plan.outer.empty()) return false;
  // Those of a block, or of a vector.
  const std::int64_t many_columns = ir::capabilities_of(target).blocks ? 128 : 8;
  const Loop& last = plan.outer.back();
  double along_rows = 0, along_columns = 0;
  for (const Instruction* load : element_loads(plan)) {
    if (runs_along(plan, load->address, last)) along_columns += bytes_read(plan, *load);
    if (!runs_along(plan, load->address, plan.inner.back())) continue;
    // What all these columns read alike is loaded at once either way.
    const auto step = step_along(plan, load->address, last);
    const bool alike = step && *step == Dim(0) && known(last.extent, 0) >= many_columns;
    if (!alike) along_rows += bytes_read(plan, *load);
  }
  return along_columns > along_rows;
}

int widest_access(const KernelPlan& plan, const Loop& loop, bool whole_vectors,
                  const ir::Target& target) {
  int width = 16;
  bool any = false;
  for (const Instruction* load : element_loads(plan)) {
    const int limit =
        std::max<int>(1, target.vector_bytes / static_cast<int>(size_of(load->dtype)));
    const int own = vector_width(plan, plan.operands[load->operand], load->address, loop, limit);
    if (own == 1 && !runs_along(plan, load->address, loop)) continue;
    any = true;
    width = std::min(width, own);
  }
  for (const Store& store : plan.stores) {
    const bool in_rows = plan.mapping == Mapping::rows || plan.mapping == Mapping::scan_rows;
    if (!store.element && in_rows) continue;
    const KernelOperand& operand = plan.operands[store.operand];
    const int limit =
        std::max<int>(1, target.vector_bytes / static_cast<int>(size_of(operand.dtype)));
    width = std::min(width, vector_width(plan, operand, store.address, loop, limit));
  }
  if (!any) return 1;
  while (width > 1 && whole_vectors && !loop.extent.divisible_by(width)) width /= 2;
  return width;
}

}  // namespace heddle::passes
