#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace heddle::ir {

/// Every environment variable that Heddle reads. No file but environment.cpp does it.
enum class Variable : std::uint8_t {
#define HEDDLE_VARIABLE(id, ...) id,
#include "ir/base/environment.def"
#undef HEDDLE_VARIABLE
};

struct VariableInfo {
  const char* name;
  const char* values;     ///< the values it may have
  const char* otherwise;  ///< the default
  const char* meaning;
};
std::span<const VariableInfo> variables();
const VariableInfo& info(Variable variable);

/// The value of the variable; empty if it is not set.
std::string environment(Variable variable);
/// Whether the variable is set, even to an empty value.
bool is_set(Variable variable);

}  // namespace heddle::ir
