#include "heddle/error.h"

#include "ir/infer/infer.h"

namespace heddle::ir {

bool Requirement::holds(std::span<const SymbolBinding> bindings) const {
  try {
    return value.evaluate(bindings) >= 0 || unless_zero.evaluate(bindings) == 0;
  } catch (const ValueError&) {
    return false;  // does not fit 64 bits
  }
}

void Requirement::raise(const std::string& message) const {
  switch (breach) {
    case Breach::index:
      throw IndexError(message);
    case Breach::shape:
    case Breach::bytes:
      throw ShapeError(message);
    case Breach::value:
      break;
  }
  throw ValueError(message);
}

}  // namespace heddle::ir
