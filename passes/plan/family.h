#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "passes/groups/group.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// What a family says of a node that asks to join.
struct Verdict {
  bool accepted = true;
  std::string reason;  ///< "1025 operations, at most 1024"
  static Verdict no(std::string reason) { return {false, std::move(reason)}; }
};

/// A kind of kernel. It says which groups it can run, and lays their loops over threads.
class Family {
 public:
  virtual ~Family() = default;
  virtual std::string_view name() const = 0;
  /// May the node join? `group` already holds what joined before; the root asks too.
  virtual Verdict extend(const Graph& graph, const Group& group, const Candidate& candidate,
                         const ir::Target& target) const = 0;
  /// Decides vector width, threads, splits. Nothing when another family runs this group better.
  virtual bool schedule(KernelPlan& plan, const ir::Target& target) const = 0;
};

/// In order of preference; generic, which takes every op that is not a library's, is last.
std::span<const Family* const> families();

}  // namespace heddle::passes
