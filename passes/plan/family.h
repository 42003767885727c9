#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "passes/groups/group.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Whether a family accepts a node in a group; if not, why.
struct Verdict {
  bool accepted = true;
  std::string reason;  ///< "1025 operations, at most 1024"
  static Verdict no(std::string reason) { return {false, std::move(reason)}; }
};

/// A kind of kernel. Decides which groups it can run, and maps their loops to threads.
class Family {
 public:
  virtual ~Family() = default;
  virtual std::string_view name() const = 0;
  /// Whether the candidate may join the group, whose members have joined before. The first
  /// candidate of a group is its root.
  virtual Verdict extend(const Graph& graph, const Group& group, const Candidate& candidate,
                         const ir::Target& target) const = 0;
  /// Chooses vector width, threads and splits. Returns false if another family runs the group
  /// better.
  virtual bool schedule(KernelPlan& plan, const ir::Target& target) const = 0;
};

/// In order of preference. The last one, generic, accepts every op that is not a library call.
std::span<const Family* const> families();

}  // namespace heddle::passes
