#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/cases/case.h"
#include "tests/cases/exactness.h"
#include "tests/cases/programs.h"
#include "tests/support/oracle.h"

namespace heddle::test {

/// One way to run a case.
enum class Way : std::uint8_t {
  interpreter,
  host,
  host_quick,  ///< host, compiled without optimization
  host_off,    ///< host_quick with the case's switches off
  executable,  ///< as a user's program: runtime::Executable, compiled by itself
  emulated,
  device  ///< the GPU that HEDDLE_DEVICE names
};
inline constexpr int way_count = 7;
std::string_view name_of(Way way);

/// What a case did wrong.
struct Finding {
  Way way = Way::interpreter;
  std::string message;
};

/// Cases compiled together for some ways, to be run one by one.
class CheckedBatch {
 public:
  /// `ways[i]` are those of case i; `target` is for the emulated ones.
  CheckedBatch(std::vector<Case> cases, std::vector<std::vector<Way>> ways,
               const ir::Target& target);

  std::size_t size() const { return cases_.size(); }
  const Case& at(std::size_t index) const { return cases_[index]; }
  /// Runs a case in all its ways against NumPy; the first difference is answered. Outputs of
  /// exactly rounded ops are compared bit by bit with the interpreter's where the way is strict,
  /// and on the CPU those of reductions too.
  std::optional<Finding> check(std::size_t index) { return check(index, cases_[index].inputs); }
  /// On other inputs than the case's own.
  std::optional<Finding> check(std::size_t index, std::span<const ir::HostArray> inputs);

  /// Kernels that the switches changed, or kept as they were.
  std::size_t cases_with_other_kernels() const { return other_kernels_; }
  std::size_t cases_switched() const { return switched_; }
  const std::vector<codegen::KernelSource>& emulated_kernels() const { return emulated_kernels_; }
  /// Of each output of the last check: its elements, how many of them NumPy leaves open, and
  /// whether every way had to give the interpreter's bits.
  struct Share {
    std::size_t elements = 0, ambiguous = 0;
    bool bitwise = false;
  };
  const std::vector<Share>& shares() const { return shares_; }
  std::size_t elements() const { return elements_; }
  std::size_t ambiguous() const { return ambiguous_; }

 private:
  /// The programs of one way, and where each case stands in them.
  struct Compiled {
    std::vector<std::shared_ptr<Programs>> programs;
    std::vector<std::size_t> indices;
    std::vector<std::string> errors;
  };
  void compile(std::span<const Way> together, const ir::Target& target);
  void count_switched();
  std::vector<ir::HostArray> run(Way way, std::size_t index, std::span<const ir::HostArray> inputs);

  std::vector<Case> cases_;
  std::vector<std::vector<Way>> ways_;
  std::array<Compiled, way_count> compiled_;
  std::vector<codegen::KernelSource> emulated_kernels_;
  std::vector<Share> shares_;
  std::size_t other_kernels_ = 0, switched_ = 0, elements_ = 0, ambiguous_ = 0;
};

/// One case by itself, for shrinking.
std::optional<Finding> check_alone(const Case& one, std::span<const Way> ways,
                                   const ir::Target& target);

}  // namespace heddle::test
