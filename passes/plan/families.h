#pragma once

#include <cstdint>

#include "passes/plan/family.h"

namespace heddle::passes {

/// Limits of one kernel: operations (as operations_of counts them), values read from memory, and
/// values written to memory.
inline constexpr int max_operations = 1024;
inline constexpr int max_operands = 64;
inline constexpr int max_stores = 96;

/// Whether the group, including the candidate, stays within these limits.
Verdict within_sizes(const Graph& graph, const Group& group, const Candidate& candidate,
                     const ir::Target& target);
/// As within_sizes, for families that neither scatter nor use memory in the steps of loops.
Verdict within_limits(const Graph& graph, const Group& group, const Candidate& candidate,
                      const ir::Target& target);

/// Elementwise ops and index sources over one iteration space, vectorised along the last loop.
class Pointwise : public Family {
 public:
  std::string_view name() const override { return "pointwise"; }
  Verdict extend(const Graph&, const Group&, const Candidate&, const ir::Target&) const override;
  bool schedule(KernelPlan&, const ir::Target&) const override;
};

/// Pointwise kernels whose loads and stores are contiguous along different loops; they use tiles.
class Transpose : public Pointwise {
 public:
  std::string_view name() const override { return "transpose"; }
  bool schedule(KernelPlan&, const ir::Target&) const override;
};

/// Pointwise kernels with concatenate or slice_update, which select a value by the element's
/// position.
class Piecewise : public Pointwise {
 public:
  std::string_view name() const override { return "piecewise"; }
  Verdict extend(const Graph&, const Group&, const Candidate&, const ir::Target&) const override;
};

/// Values that are combined atomically with the elements that their indices select.
class Scatter : public Pointwise {
 public:
  std::string_view name() const override { return "scatter"; }
  Verdict extend(const Graph&, const Group&, const Candidate&, const ir::Target&) const override;
};

/// On a CPU, the most elements that take the steps of a loop together.
inline constexpr std::int64_t most_looped_together = 4096;

/// Loops over steps that each element runs on its own, reading and storing arrays in each step.
class Steps : public Family {
 public:
  std::string_view name() const override { return "steps"; }
  Verdict extend(const Graph&, const Group&, const Candidate&, const ir::Target&) const override;
  bool schedule(KernelPlan&, const ir::Target&) const override;
};

/// Reductions over the same inner loops, with the ops before and after them.
class ReductionFamily : public Piecewise {
 public:
  std::string_view name() const override { return "reduction"; }
  Verdict extend(const Graph&, const Group&, const Candidate&, const ir::Target&) const override;
  bool schedule(KernelPlan&, const ir::Target&) const override;
};

/// On the host, a thread takes whole rows or runs of columns. If they are few and long, they are
/// split.
void schedule_host_rows(KernelPlan& plan, bool columnwise);

/// The number of parts into which the host splits each of `units` rows of `row` elements, so that
/// all cores have work. Parts have at least `part` elements.
std::int64_t host_parts(std::int64_t units, std::int64_t row, std::int64_t part = 1 << 16);

/// Rows or columns that are reduced and then read again. One block, or a cluster, holds them in
/// between.
class Normalization : public ReductionFamily {
 public:
  std::string_view name() const override { return "normalization"; }
  Verdict extend(const Graph&, const Group&, const Candidate&, const ir::Target&) const override;
  bool schedule(KernelPlan&, const ir::Target&) const override;
};

/// The longest rows that a kernel scans and reduces: a block of 1,024 threads holds four elements
/// in each.
inline constexpr std::int64_t most_scanned_and_reduced = 4096;

/// Scans along one loop, with the ops before and after them over the same loops. A row that one
/// block cannot hold is split into tiles; each tile waits for the results of earlier tiles.
class Scan : public Piecewise {
 public:
  std::string_view name() const override { return "scan"; }
  Verdict extend(const Graph&, const Group&, const Candidate&, const ir::Target&) const override;
  bool schedule(KernelPlan&, const ir::Target&) const override;
};
bool scans(const KernelPlan& plan);
/// Schedules any plan with a scan.
void schedule_scan(KernelPlan& plan, const ir::Target& target);

/// One op, one thread for each outer iteration. Makes no assumptions.
class Generic : public Family {
 public:
  std::string_view name() const override { return "generic"; }
  Verdict extend(const Graph&, const Group&, const Candidate&, const ir::Target&) const override;
  bool schedule(KernelPlan&, const ir::Target&) const override;
};

}  // namespace heddle::passes
