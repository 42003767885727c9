#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "tests/fuzz/recorder.h"
#include "tests/fuzz/region_maker.h"
#include "tests/fuzz/scope.h"

namespace heddle::test {

/// Makes a random loop or branch of the values of a scope.
class ControlMaker {
 public:
  /// `depth` counts the loops and branches around it.
  ControlMaker(Recorder& draws, Scope& around, int depth)
      : draws_(draws), around_(around), depth_(depth) {}

  /// The results that may be used, none of them where the IR refuses the call.
  std::vector<ir::ValueId> make();

 private:
  using Values = std::vector<ir::ValueId>;

  std::vector<ir::ValueId> make_scan();
  std::vector<ir::ValueId> make_while();
  std::vector<ir::ValueId> make_switch();

  Values picked(std::size_t count);
  Values any_carries(std::size_t count, std::optional<ir::Dim> length = std::nullopt);
  ir::ValueId indexed(ir::Dim length);
  ir::Dim any_length();
  std::optional<ir::ValueId> sequence(ir::Dim length);
  std::optional<ir::ValueId> any_index(std::int64_t branches);
  ir::ValueId next_carry(RegionMaker& body, const Values& carries, std::size_t index,
                         const Values& made);
  ir::Region condition(const Values& operands, std::size_t counter,
                       std::optional<std::size_t> limit);
  Values results_of(const ir::CallOp& op, const Values& operands,
                    std::initializer_list<ir::NamedAttribute> attributes,
                    std::vector<ir::Region> regions);

  Recorder& draws_;
  Scope& around_;
  int depth_;
};

}  // namespace heddle::test
