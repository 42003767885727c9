#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/types/attributes.h"
#include "ir/types/op.h"

namespace heddle::ir {

/// A condition on symbols that inference leaves open, so that a launch checks it: `value` is
/// neither negative nor beyond 64 bits, or `unless_zero` is 0.
struct Requirement {
  /// Which error a launch throws; `bytes` is a ShapeError, of an array whose extents are in order.
  enum class Breach : std::uint8_t { index, shape, value, bytes };
  Dim value;
  Dim unless_zero = 1;
  Breach breach = Breach::index;
  std::string text;      ///< "slice(f32[n]): start n-5 step 1 extent 5 leaves axis 0 of extent n"
  std::string location;  ///< of the user's line; not part of a program, which equal graphs share
  bool holds(std::span<const SymbolBinding> bindings) const;
  /// Throws the error that its breach is.
  [[noreturn]] void raise(const std::string& message) const;
};

/// Checks an op's operands and attributes against its rules and gives the result's type. No
/// other code has these rules. Throws ShapeError, DTypeError, IndexError or ValueError that name
/// the op, the shapes and dtypes; the caller adds the location. What symbols decide is appended to
/// `open`.
Type infer(Op op, std::span<const Type> operands, const Attributes& attributes,
           std::vector<Requirement>* open = nullptr);

/// The same of all results of a call; infer() gives the first.
std::vector<Type> infer_results(std::span<const Type> operands, const Attributes& attributes,
                                std::vector<Requirement>* open = nullptr);

/// What a scatter's operands broadcast to: one write for each element.
Shape scatter_region(std::span<const Type> operands);

}  // namespace heddle::ir
