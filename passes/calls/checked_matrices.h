#pragma once

#include "passes/calls/lowering.h"

namespace heddle::passes {

/// A stack of matrices, [..., m, n], for a library that must not see NaN and infinities.
class CheckedMatrices {
 public:
  /// Records what the checks need. `location` is that of the new nodes.
  CheckedMatrices(Graph& graph, ValueId matrices, ir::Location location);

  /// The matrices. Those that are not finite are 0.
  ValueId matrices() const { return clean_; }
  /// bool, one for each matrix.
  ValueId is_finite() const { return finite_; }
  /// bool, one for each matrix.
  ValueId has_nan() const;

  /// The library's status; -4 for matrices of which `bad` is true and whose status is 0.
  ValueId status(ValueId said, ValueId bad) const;
  /// A result with `core` axes for each matrix: NaN where the library failed or the matrix is not
  /// finite.
  ValueId result(ValueId value, ValueId said, std::size_t core) const;

 private:
  ValueId for_each_matrix(ir::Op op, ValueId flags) const;
  ValueId with_axes(ValueId flags, std::size_t core) const;
  ValueId add(ir::Op op, std::initializer_list<ValueId> operands,
              ir::Attributes attributes = {}) const;

  Graph& graph_;
  ir::Location location_;
  ValueId given_, finite_, clean_;
};

}  // namespace heddle::passes
