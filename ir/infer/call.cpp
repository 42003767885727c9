#include "ir/infer/call.h"

#include <algorithm>

namespace heddle::ir {
namespace {

std::string names_of(DTypeSet set) {
  std::string text;
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    if ((set & set_of(dtype)) == 0) continue;
    if (!text.empty()) text += ' ';
    text += numpy_name_of(dtype);
  }
  return text;
}
}  // namespace

std::string_view name_of(const Call& call) { return name_of(call.op, call.attributes); }

std::string describe(const Call& call) {
  std::string text(name_of(call));
  text += '(';
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (i > 0) text += ", ";
    text += describe(call.operand(i));
  }
  return text + ')';
}
void check_allowed(const Call& call, DType dtype) {
  const DTypeSet allowed =
      call.attributes.call ? call.attributes.call->op->dtypes : info(call.op).dtypes;
  if ((allowed & set_of(dtype)) == 0) {
    fail<DTypeError>(call, "{} is not defined for {}; cast to one of {}", name_of(call),
                     numpy_name_of(dtype), names_of(allowed));
  }
}

/// The dtype that operands [first, last) have in common.
DType common_dtype(const Call& call, std::size_t first, std::size_t last) {
  const DType dtype = call.operand(first).dtype;
  for (std::size_t i = first + 1; i < last; ++i) {
    if (call.operand(i).dtype != dtype) {
      fail<DTypeError>(call, "operands {} and {} differ in dtype, {} and {}; cast one of them",
                       first, i, numpy_name_of(dtype), numpy_name_of(call.operand(i).dtype));
    }
  }
  check_allowed(call, dtype);
  return dtype;
}

void require_dtype(const Call& call, std::size_t operand, DType dtype) {
  if (call.operand(operand).dtype != dtype) {
    fail<DTypeError>(call, "operand {} must be {}, not {}; cast it", operand, numpy_name_of(dtype),
                     numpy_name_of(call.operand(operand).dtype));
  }
}
Shape broadcast(const Call& call, const Shape& a, const Shape& b) {
  try {
    return broadcast_shapes(a, b);
  } catch (const ShapeError& error) {
    fail<ShapeError>(call, "{}", error.what());
  }
}
bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.size() > to.size()) return false;
  return std::equal(from.rbegin(), from.rend(), to.rbegin(),
                    [](Dim a, Dim b) { return a == b || a == Dim(1); });
}

bool is_certainly_negative(Dim dim) {
  return dim.is_non_positive() && (Dim(-1) - dim).is_non_negative();
}

void check_result(const Call& call, const Type& type) {
  if (type.shape.size() > max_rank) {
    fail<ShapeError>(call, "an array has at most {} dimensions, not {}", max_rank,
                     type.shape.size());
  }
  for (Dim extent : type.shape) {
    require(call, Requirement::Breach::shape, extent, 1, [&] {
      return fmt::format("shape {} has the negative extent {}", to_string(type.shape),
                         extent.to_string());
    });
  }
  const auto too_large = [&] {
    return fmt::format("the size of {} in bytes does not fit 64 bits", describe(type));
  };
  try {
    const Dim bytes = byte_count(type);
    if (bytes.is_constant() || call.open == nullptr) return;
    call.open->push_back(
        {bytes, 1, Requirement::Breach::bytes, describe(call) + ": " + too_large(), {}});
  } catch (const ShapeError& error) {
    fail<ShapeError>(call, "{}: {}", too_large(), error.what());
  }
}

int checked_axis(const Call& call, std::int64_t axis, int rank) {
  if (axis < 0 || axis >= rank) {
    fail<IndexError>(call, "axis {} is out of bounds for an array of {} dimensions", axis, rank);
  }
  return static_cast<int>(axis);
}

int single_axis(const Call& call, int rank) {
  if (call.attributes.axes.size() != 1) {
    fail<ValueError>(call, "takes one axis, not {}", call.attributes.axes.size());
  }
  return checked_axis(call, call.attributes.axes[0], rank);
}
}  // namespace heddle::ir
