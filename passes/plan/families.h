#pragma once

#include "passes/plan/family.h"

namespace heddle::passes {

/// Operations that one kernel may hold, as operations_of counts them, and values that it may read
/// from memory and write to it.
inline constexpr int max_operations = 1024;
inline constexpr int max_operands = 64;
inline constexpr int max_stores = 96;

/// Whether the group, and the candidate with it, stay within these.
Verdict within_sizes(const Graph& graph, const Group& group, const Candidate& candidate,
                     const ir::Target& target);
/// The same, for families that do not scatter.
Verdict within_limits(const Graph& graph, const Group& group, const Candidate& candidate,
                      const ir::Target& target);

/// Elementwise ops and index sources over one space, in vectors along the last loop.
class Pointwise : public Family {
 public:
  std::string_view name() const override { return "pointwise"; }
  Verdict extend(const Graph&, const Group&, const Candidate&, const ir::Target&) const override;
  bool schedule(KernelPlan&, const ir::Target&) const override;
};

/// Pointwise kernels that read across their stores' order, through tiles.
class Transpose : public Pointwise {
 public:
  std::string_view name() const override { return "transpose"; }
  bool schedule(KernelPlan&, const ir::Target&) const override;
};

/// Pointwise kernels with parts: concatenate and slice_update choose by where an element lies.
class Piecewise : public Pointwise {
 public:
  std::string_view name() const override { return "piecewise"; }
  Verdict extend(const Graph&, const Group&, const Candidate&, const ir::Target&) const override;
};

/// Values that are combined, atomically, with what is at the place that their indices name.
class Scatter : public Pointwise {
 public:
  std::string_view name() const override { return "scatter"; }
  Verdict extend(const Graph&, const Group&, const Candidate&, const ir::Target&) const override;
};

/// Reductions over the same inner loops with what is computed before and after them.
class ReductionFamily : public Piecewise {
 public:
  std::string_view name() const override { return "reduction"; }
  Verdict extend(const Graph&, const Group&, const Candidate&, const ir::Target&) const override;
  bool schedule(KernelPlan&, const ir::Target&) const override;
};

/// On the host a thread takes whole rows or runs of columns; few and long ones are split by size.
void schedule_host_rows(KernelPlan& plan, bool columnwise);

/// Into how many parts the host cuts each of so many units of rows, so that all cores have work.
std::int64_t host_parts(std::int64_t units, std::int64_t row, std::int64_t part = 1 << 16);

/// Rows or columns that are reduced and then read again, held between by one block or by a cluster.
class Normalization : public ReductionFamily {
 public:
  std::string_view name() const override { return "normalization"; }
  Verdict extend(const Graph&, const Group&, const Candidate&, const ir::Target&) const override;
  bool schedule(KernelPlan&, const ir::Target&) const override;
};

/// Scans along one loop, with what is computed before and after them over the same loops. Rows that
/// one block cannot hold are cut in tiles, each of which waits for what the earlier ones come to.
class Scan : public Piecewise {
 public:
  std::string_view name() const override { return "scan"; }
  Verdict extend(const Graph&, const Group&, const Candidate&, const ir::Target&) const override;
  bool schedule(KernelPlan&, const ir::Target&) const override;
};
bool scans(const KernelPlan& plan);
/// Any plan that scans.
void schedule_scan(KernelPlan& plan, const ir::Target& target);

/// One op, one thread an outer iteration, no assumption about anything.
class Generic : public Family {
 public:
  std::string_view name() const override { return "generic"; }
  Verdict extend(const Graph&, const Group&, const Candidate&, const ir::Target&) const override;
  bool schedule(KernelPlan&, const ir::Target&) const override;
};

}  // namespace heddle::passes
