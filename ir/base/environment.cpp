#include "ir/base/environment.h"

#include <cstddef>
#include <cstdlib>

namespace heddle::ir {

namespace {

constexpr VariableInfo table[] = {
#define HEDDLE_VARIABLE(id, name, values, otherwise, meaning) {name, values, otherwise, meaning},
#include "ir/base/environment.def"
#undef HEDDLE_VARIABLE
};

}  // namespace

std::span<const VariableInfo> variables() { return table; }

const VariableInfo& info(Variable variable) { return table[static_cast<std::size_t>(variable)]; }

std::string environment(Variable variable) {
  const char* const value = std::getenv(info(variable).name);
  return value != nullptr ? value : "";
}

bool is_set(Variable variable) { return std::getenv(info(variable).name) != nullptr; }

}  // namespace heddle::ir
