#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::ir {

/// Every environment variable that Heddle reads. No file but environment.cpp does it.
enum class Variable : std::uint8_t {
#define HEDDLE_VARIABLE(id, ...) id,
#include "ir/base/environment.def"
#undef HEDDLE_VARIABLE
};

/// What a variable's value must look like. An empty value is as none.
struct VariableForm {
  enum class Kind : std::uint8_t {
    text,    ///< anything; who reads it may know more
    flag,    ///< 0 or 1
    number,  ///< from `least` to `most`
    bytes,   ///< a number, or with K, M, G behind
    one_of,  ///< of `names`
    list_of  ///< of `names`, with commas between
  };
  Kind kind = Kind::text;
  std::int64_t least = 0, most = 0;
  std::string_view names = {};  ///< with commas between
};

struct VariableInfo {
  const char* name;
  VariableForm form;
  const char* values;     ///< the values it may have, for people
  const char* otherwise;  ///< the default
  const char* meaning;
};
std::span<const VariableInfo> variables();
const VariableInfo& info(Variable variable);

/// The value of the variable; empty if it is not set. Not checked.
std::string environment(Variable variable);
/// Whether the variable is set, even to an empty value.
bool is_set(Variable variable);

// The value of a variable of that form; nullopt, or `otherwise`, if it is not set. Each throws
// ValueError, which says what is valid, for a value of another form.
bool flag(Variable variable, bool otherwise);
std::optional<std::int64_t> number(Variable variable);
std::optional<std::uint64_t> bytes(Variable variable);
std::string name(Variable variable);
std::vector<std::string> names(Variable variable);

/// Throws ValueError for the first variable whose value is not of its form, and for one of this
/// process's whose name begins with HEDDLE_ and is nearly that of one of ours. Called where a
/// device is first asked for, so that a mistake is told before anything rests on it.
void check_environment();

}  // namespace heddle::ir
