#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heddle/dtype.h"

#include "ir/types/call.h"

namespace heddle::ir {

/// The user's function of a user.map call.
struct UserFunction {
  struct Parameter {
    std::string name;
    bool raw = false;  ///< the function reads all of the operand
  };
  struct Named {
    std::string name;
    DType dtype = DType::f32;
  };
  std::vector<Parameter> inputs;
  std::vector<Named> outputs;
  std::vector<Named> types;  ///< names of types in the text
  std::size_t result = 0;    ///< which output the call computes
};

/// The function, parsed from a call's attributes. Throws ValueError for texts that are not lists
/// of names.
UserFunction user_function(const CallData& user_map);
/// The attributes' texts: "x, raw y" and "z f32, w f64".
std::string list_text(const std::vector<UserFunction::Parameter>& inputs);
std::string list_text(const std::vector<UserFunction::Named>& named);

/// Whether the function reads all of operand `k`, rather than one element.
bool is_raw_operand(const CallData& user_map, std::size_t k);
bool has_raw_operands(const CallData& user_map);

/// Whether the function may never return for a value that the program does not have: its text has
/// a loop.
bool may_run_forever(const CallData& user_map);

}  // namespace heddle::ir
