#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tests/cases/case.h"
#include "tests/fuzz/control_traits.h"

namespace heddle::test {

/// How many graphs each op of the table stands in, each dtype, rank, and other traits of graphs and
/// inputs. Only what an output needs counts.
class Coverage {
 public:
  Coverage();
  void count(const Case& one);
  /// Counts the calls of this graph that only its lowering for a target makes.
  void count_lowered(const Case& one, const ir::Target& target);

  std::size_t graphs() const { return lengths_.size(); }
  /// How many graphs have a loop or branch.
  std::size_t with_loops() const { return controls_.at(loop_or_branch); }
  std::string table() const;
  /// Ops and traits that are in too few graphs. The bar is `least`; `least_lowered` for ops that
  /// only a lowering makes; `least_control` for traits of loops and branches.
  std::vector<std::string> rarer_than(std::size_t least, std::size_t least_lowered,
                                      std::size_t least_control) const;

 private:
  std::vector<std::size_t> lengths_;  ///< ops of each graph
  std::map<std::string, std::size_t> ops_, lowered_, traits_, controls_;
};

}  // namespace heddle::test
