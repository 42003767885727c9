#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::ir {

/// Every environment variable that Heddle reads. Only environment.cpp reads them.
enum class Variable : std::uint8_t {
#define HEDDLE_VARIABLE(id, ...) id,
#include "ir/base/environment.def"
#undef HEDDLE_VARIABLE
};

/// The required syntax of a variable's value. An empty value counts as not set.
struct VariableForm {
  enum class Kind : std::uint8_t {
    text,    ///< anything; the code that reads it may check further
    flag,    ///< 0 or 1
    number,  ///< from `least` to `most`
    bytes,   ///< a number, optionally followed by K, M or G
    one_of,  ///< one of `names`
    list_of  ///< some of `names`, separated by commas
  };
  Kind kind = Kind::text;
  std::int64_t least = 0, most = 0;
  std::string_view names = {};  ///< separated by commas
};

struct VariableInfo {
  const char* name;
  VariableForm form;
  const char* values;     ///< the valid values, in words
  const char* otherwise;  ///< the default, in words
  const char* meaning;
};
std::span<const VariableInfo> variables();
const VariableInfo& info(Variable variable);

/// The variable's value, unchecked; empty if it is not set.
std::string environment(Variable variable);
/// Whether the variable is set, even to an empty value.
bool is_set(Variable variable);

// Typed values of variables. If the variable is not set, they return `otherwise`, nullopt, or an
// empty result. Each throws ValueError, which lists the valid values, if the value has another
// form.
bool flag(Variable variable, bool otherwise);
std::optional<std::int64_t> number(Variable variable);
std::optional<std::uint64_t> bytes(Variable variable);
std::string name(Variable variable);
std::vector<std::string> names(Variable variable);

/// Throws ValueError for the first variable whose value does not have its form, and for a variable
/// of this process whose name begins with HEDDLE_ and is a near miss of a known name. Called when a
/// device is first requested, so that a mistake is reported before it has any effect.
void check_environment();

}  // namespace heddle::ir
