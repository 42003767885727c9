#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "frontend/graph/record.h"
#include "ir/calls/calls.h"

namespace heddle::frontend {

/// An array whose axis `axis` is moved to the end, and operations along that axis.
class LastAxis {
 public:
  LastAxis(std::string_view name, const Operand& a, std::int64_t axis);

  const SourceLocation& where() const { return where_; }
  DType dtype() const { return node_->dtype; }
  /// The length of the axis. Throws ShapeError for a symbol, with `name` as the function's name.
  std::int64_t length(std::string_view name) const;

  void to_complex();
  /// float16 to float32, bool and integers to float64. DTypeError for complex numbers.
  void to_real(std::string_view name);
  void cast(DType dtype) { node_ = cast_to(node_, dtype, where_); }
  /// Crops the axis, or pads it with zeros.
  void resize(std::string_view name, std::int64_t length);
  void call(const ir::CallOp& op, std::initializer_list<ir::NamedAttribute> attributes);
  void conjugate();
  void scale(double factor);
  /// The array, with the axis moved back to its old position.
  Array finish();

 private:
  NodeRef moved(const NodeRef& node, std::int64_t from, std::int64_t to) const;

  SourceLocation where_;
  NodeRef node_;
  std::int64_t axis_ = 0;
};

}  // namespace heddle::frontend
