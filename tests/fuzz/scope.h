#pragma once

#include <optional>
#include <vector>

#include "ir/graph/graph.h"

namespace heddle::test {

/// The values that a loop or branch may use: those of a case's graph, or of the region around it.
class Scope {
 public:
  Scope() = default;
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  virtual ~Scope() = default;

  virtual const ir::Graph& graph() const = 0;
  /// The node, unless the IR refuses it or it is too large.
  virtual std::optional<ir::ValueId> add(ir::Op op, const std::vector<ir::ValueId>& operands,
                                         const ir::Attributes& attributes = {}) = 0;
  virtual ir::ValueId constant(DType dtype, double value) = 0;
  /// Result `index` of a call, from 1 on.
  virtual ir::ValueId result(ir::ValueId call, std::size_t index) = 0;
  /// A small array; floats are small numbers.
  virtual ir::ValueId pick() = 0;
  /// A new input. Regions have none.
  virtual std::optional<ir::ValueId> input(const ir::Type& type) = 0;

  DType dtype(ir::ValueId id) const { return graph().dtype(id); }
  const ir::Shape& shape(ir::ValueId id) const { return graph().shape(id); }
  ir::Type type(ir::ValueId id) const { return graph().type(id); }

  std::optional<ir::ValueId> scaled(ir::ValueId value, double factor);
  /// The value in another dtype. Floats become no integers, since errors would decide which;
  /// integers become floats within 1.
  std::optional<ir::ValueId> converted(ir::ValueId value, DType dtype);
  /// The value in that shape: broadcast, or else its largest element everywhere.
  std::optional<ir::ValueId> reshaped(ir::ValueId value, const ir::Shape& shape);
  std::optional<ir::ValueId> fitted(ir::ValueId value, const ir::Type& type);
};

}  // namespace heddle::test
