#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/types/attributes.h"
#include "ir/types/op.h"

namespace heddle::ir {

/// A condition on symbols that type inference cannot decide, so each launch checks it. It holds if
/// `value` fits 64 bits and is not negative, or if `unless_zero` is 0.
struct Requirement {
  /// The type of error that a launch throws. `bytes` is a ShapeError: valid extents, but too many
  /// bytes.
  enum class Breach : std::uint8_t { index, shape, value, bytes };
  Dim value;
  Dim unless_zero = 1;
  Breach breach = Breach::index;
  std::string text;  ///< "max(f32[n]): axis 0 has no elements, and max of no elements is undefined"
  std::string location;  ///< the user's source line; not stored in programs, which equal graphs
                         ///< share
  bool holds(std::span<const SymbolBinding> bindings) const;
  /// Throws the error that `breach` names.
  [[noreturn]] void raise(const std::string& message) const;
};

/// Checks an op's operands and attributes against its rules and returns the result's type. All of
/// these rules are implemented in this folder. Throws ShapeError, DTypeError, IndexError or
/// ValueError that names the op, shapes and dtypes; the caller adds the source location. Conditions
/// that depend on symbols are appended to `open`.
Type infer(Op op, std::span<const Type> operands, const Attributes& attributes,
           std::vector<Requirement>* open = nullptr);

/// The types of all results of a call; infer() returns the first.
std::vector<Type> infer_results(std::span<const Type> operands, const Attributes& attributes,
                                std::vector<Requirement>* open = nullptr);

/// The shape to which a scatter's operands broadcast: one write for each element.
Shape scatter_region(std::span<const Type> operands);

}  // namespace heddle::ir
