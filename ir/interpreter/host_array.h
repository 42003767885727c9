#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ir/interpreter/arrays.h"
#include "ir/types/attributes.h"

namespace heddle::ir {

/// A C-ordered host array for the interpreter.
struct HostArray {
  Type type;  ///< all extents are constants
  std::vector<std::byte> data;
};

/// A call that the interpreter evaluates.
struct CallArguments {
  const CallData& call;
  std::span<const HostArray* const> operands;
  std::span<const Type> results;
  /// Evaluates a region of the call.
  std::function<std::vector<HostArray>(std::size_t region, std::span<const HostArray> arguments)>
      run;
};

namespace interpreter {

Extents extents_of(const Shape& shape);
std::size_t count_of(const Type& type);
HostArray allocate(Type type);

/// The array's memory with other strides, starting at the element at `offset`. source() casts away
/// const: copy_elements writes only to its second argument.
StridedBytes source(const HostArray& array, Extents strides, std::int64_t offset = 0);
StridedBytes target(HostArray& array, Extents strides, std::int64_t offset = 0);

/// Copies elements of `array`, selected by strides and an offset, to a new C-ordered array of
/// `shape`.
HostArray strided(const HostArray& array, const Shape& shape, Extents strides,
                  std::int64_t offset = 0);
/// Strides for reading `array` broadcast to `rank` axes: 0 along repeated axes.
Extents broadcast_strides(const HostArray& array, std::size_t rank);
HostArray broadcast(const HostArray& array, const Shape& shape);
HostArray transpose(const HostArray& array, std::span<const std::int64_t> axes);

}  // namespace interpreter

}  // namespace heddle::ir
