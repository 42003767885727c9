#include "tests/fuzz/recorder.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "heddle/error.h"

#include "ir/graph/with_dims.h"
#include "ir/interpreter/functions.h"
#include "ir/types/constant.h"

namespace heddle::test {

using ir::Attributes;
using ir::HostArray;
using ir::Op;
using ir::Shape;
using ir::ValueId;

DType Recorder::any_dtype(ir::DTypeSet set) {
  std::vector<DType> members;
  for (int i = 0; i < dtype_count; ++i) {
    if ((set & ir::set_of(static_cast<DType>(i))) != 0) members.push_back(static_cast<DType>(i));
  }
  return any_of(members);
}

std::int64_t Recorder::elements(const Shape& shape) const {
  std::int64_t count = 1;
  for (const ir::Dim dim : shape) count *= extent(dim);
  return count;
}

void Recorder::keep(ValueId id, HostArray value) {
  const std::size_t index = ir::index_of(id);
  if (values_.size() <= index) values_.resize(index + 1);
  values_[index] = std::move(value);
}

ValueId Recorder::parameter(DType dtype, const Shape& shape, bool scalar) {
  const Shape extents = bound(shape, case_.bindings);
  const std::uint64_t seed = random_();
  // Extremes and special values in some inputs only: they spread over all that is computed of them.
  const bool wild = chance(is_inexact(dtype) ? 0.03 : 0.3);
  HostArray array = wild ? sample(ir::Domain::any, 0, dtype, extents, seed)
                         : moderate_sample(dtype, extents, seed % 4);
  const ValueId id =
      scalar ? case_.graph.scalar_parameter(dtype) : case_.graph.parameter(dtype, shape);
  case_.inputs.push_back(array);
  keep(id, std::move(array));
  return id;
}

ValueId Recorder::constant(DType dtype, double value) {
  const ir::ElementBits bits = ir::constant_bits(dtype, value);
  const ValueId id = case_.graph.constant(dtype, bits);
  HostArray array{{dtype, {}}, {}};
  array.data.resize(size_of(dtype));
  std::memcpy(array.data.data(), bits.bytes(), array.data.size());
  keep(id, std::move(array));
  return id;
}

HostArray Recorder::evaluate(Op op, std::span<const ValueId> operands, const Attributes& attributes,
                             std::size_t index) const {
  ir::Graph single;
  single.fold_constants = false;
  std::vector<ValueId> parameters;
  std::vector<HostArray> arguments;
  for (const ValueId operand : operands) {
    const HostArray& array = value(operand);
    parameters.push_back(single.parameter(array.type.dtype, array.type.shape));
    arguments.push_back(array);
  }
  const Attributes concrete =
      with_dims(attributes, [&](ir::Dim dim) { return dim.with_bound(case_.bindings); });
  single.outputs = {single.result(single.add(op, parameters, concrete), index)};
  return ir::interpret(single, arguments)[0];
}

std::optional<ValueId> Recorder::add(Op op, const std::vector<ValueId>& operands,
                                     const Attributes& attributes) {
  std::vector<ir::Type> types;
  for (const ValueId operand : operands) types.push_back(graph().type(operand));
  try {
    const ir::Type type = ir::infer(op, types, attributes);
    if (type.shape.size() > most_axes || elements(type.shape) > most_elements) return std::nullopt;
    HostArray array = evaluate(op, operands, attributes);
    const std::size_t before = graph().size();
    const ValueId id = case_.graph.add(op, operands, attributes);
    if (graph().size() > before && graph().op(id) != Op::constant) ++operations_;
    keep(id, std::move(array));
    return id;
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return std::nullopt;  // a user's mistake: no such node
  }
}

ValueId Recorder::result(ValueId call, std::size_t index) {
  HostArray array = evaluate(Op::call, graph().operands(call), graph().attributes(call), index);
  const ValueId id = case_.graph.result(call, index);
  keep(id, std::move(array));
  return id;
}

ValueId Recorder::cast(ValueId id, DType dtype) {
  if (this->dtype(id) == dtype) return id;
  Attributes attributes;
  attributes.dtype = dtype;
  return add(Op::cast, {id}, attributes).value();
}

Recorder::Extremes Recorder::extremes(ValueId id) const {
  const HostArray& array = value(id);
  // The parts of complex numbers one by one.
  const DType part = real_dtype(array.type.dtype);
  const std::size_t count = array.data.size() / size_of(part);
  std::vector<double> numbers(count);
  const std::byte* operand = array.data.data();
  ir::interpreter::cast_function(part, DType::f64)(
      &operand, reinterpret_cast<std::byte*>(numbers.data()), count);
  Extremes result;
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(numbers[i])) {
      result.finite = false;
      continue;
    }
    result.low = i == 0 ? numbers[i] : std::min(result.low, numbers[i]);
    result.high = i == 0 ? numbers[i] : std::max(result.high, numbers[i]);
  }
  return result;
}

ValueId Recorder::clamped(ValueId id, Range range) {
  const Extremes have = extremes(id);
  const DType kind = dtype(id);
  if (is_boolean(kind)) return id;
  if (is_complex(kind)) {
    if (have.finite && have.low >= range.low && have.high <= range.high) return id;
    const ValueId real = clamped(add(Op::real, {id}).value(), range);
    const ValueId imaginary = clamped(add(Op::imag, {id}).value(), range);
    return add(Op::make_complex, {real, imaginary}).value();
  }
  // fmax and fmin take NaNs away.
  const bool number_wins = !have.finite || chance(0.3);
  if (have.low < range.low || !have.finite) {
    id = add(number_wins ? Op::fmax : Op::maximum, {id, constant(kind, range.low)}).value();
  }
  if (have.high > range.high || !have.finite) {
    id = add(number_wins ? Op::fmin : Op::minimum, {id, constant(kind, range.high)}).value();
  }
  return id;
}

}  // namespace heddle::test
