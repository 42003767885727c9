#include "frontend/random/draw.h"

#include <numbers>

#include <fmt/format.h>

#include "heddle/elementwise.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/trace.h"

namespace heddle::frontend {

using ir::Op;

Draw::Draw(const std::shared_ptr<GeneratorState>& state, std::string_view op, const Shape& size,
           DType dtype, std::initializer_list<const Operand*> parameters, SourceLocation where)
    : state_(state), op_(op), dtype_(dtype), where_(where) {
  if (!is_floating(dtype)) {
    throw DTypeError(
        at(fmt::format("{}: the dtype must be floating, not {}", op, numpy_name_of(dtype)), where));
  }
  shape_ = to_ir(size);
  for (const Operand* parameter : parameters) add_shape(*parameter, size.empty());
}

void Draw::refuse(const Operand& parameter, std::string_view what) const {
  throw ValueError(
      at(fmt::format("{}: {}, not {}", op_, what, text_of(parameter.scalar())), where_));
}

void Draw::add_shape(const Operand& parameter, bool grows) {
  if (parameter.array() == nullptr) return;
  const ir::Shape& shape = Access::node(*parameter.array(), where_)->shape;
  const ir::Shape both = located(where_, [&] { return ir::broadcast_shapes(shape_, shape); });
  if (!grows && both != shape_) {
    throw ShapeError(at(fmt::format("{}: a parameter of shape {} does not broadcast to the size {}",
                                    op_, ir::to_string(shape), ir::to_string(shape_)),
                        where_));
  }
  shape_ = both;
}

NodeRef Draw::key() const {
  Trace* const trace = Trace::current();
  return trace != nullptr ? trace->add_sample_key(state_)
                          : record_scalar(DType::u64, state_->next_sample_key(), false);
}

/// The index of each element, in order.
NodeRef Draw::numbers() const {
  const ir::Shape flat = {ir::element_count(shape_)};
  return reshape_to(record_iota(flat, 0, DType::u64, where_), shape_, where_);
}

Array Draw::sample(Op op, std::initializer_list<const Operand*> parameters) const {
  std::vector<NodeRef> operands = {key(), numbers()};
  for (const Operand* parameter : parameters)
    operands.push_back(Access::node(in_double(*parameter), where_));
  return Access::make(record(op, operands, {}, where_));
}

Array Draw::in_double(const Operand& parameter) const {
  if (parameter.array() != nullptr && is_complex(parameter.array()->dtype())) {
    throw DTypeError(at(fmt::format("{}: a parameter is real, not {}", op_,
                                    numpy_name_of(parameter.array()->dtype())),
                        where_));
  }
  return Access::make(node_of(op_, parameter, DType::f64));
}

Array Draw::unit() const {
  if (wide() == DType::f64) return (bits() >> 11).astype(DType::f64) * 0x1p-53;
  // Two elements share a 64-bit word.
  const NodeRef drawn = key();
  const Array number = Access::make(numbers());
  const Array word =
      Access::make(record(Op::philox, {drawn, Access::node(number >> 1, where_)}, {}, where_));
  const Array is_odd = (number & std::uint64_t{1}).astype(DType::boolean);
  const Array half =
      heddle::where(is_odd, word.astype(DType::u32), (word >> 32).astype(DType::u32));
  return (half >> 8).astype(DType::f32) * 0x1p-24;
}

Array Draw::open_unit_of(const Array& bits, DType kind) {
  const bool is_wide = kind == DType::f64;
  return ((bits >> (is_wide ? 12 : 41)).astype(kind) + 0.5) * (is_wide ? 0x1p-52 : 0x1p-23);
}

/// The Box-Muller transform of two uniform numbers.
Array Draw::normal() const {
  if (wide() == DType::f64)
    return sqrt(log(open_unit()) * -2.0) * cos(unit() * (2 * std::numbers::pi));
  return sample(Op::philox_normal, {});
}

/// If g has shape + 1 and u is uniform, then g * u^(1 / shape) has the wanted shape.
Array Draw::log_gamma(const Operand& shape) const {
  const Array in_doubles = in_double(shape);
  const Array above = gamma(in_doubles + 1.0), unit = open_double();
  return log(above) + log(unit) / in_doubles;
}

Array Draw::chisquare(const Operand& degrees) const {
  return gamma(in_double(degrees) * 0.5) * 2.0;
}

/// A central chi-square whose degrees of freedom are increased by twice a Poisson number.
Array Draw::noncentral_chisquare(const Operand& degrees, const Operand& noncentrality) const {
  const Array half = in_double(noncentrality) * 0.5;
  const Operand mean(half, where_);
  return chisquare(in_double(degrees) + sample(Op::philox_poisson, {&mean}) * 2.0);
}

Array Draw::sized(const Array& array) const {
  return Access::make(broadcast_to_shape(Access::node(array, where_), shape_, where_));
}

Array Draw::whole(const Array& numbers) const {
  return heddle::where(isnan(numbers), -1.0, numbers).astype(DType::i64, where_);
}

}  // namespace heddle::frontend
