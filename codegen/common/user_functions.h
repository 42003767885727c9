#pragma once

#include <string>
#include <vector>

#include "ir/types/call.h"

namespace heddle::codegen {

/// The text of the users' functions that a kernel calls: for each a namespace of its own, within
/// heddle_user, with the types and the preamble that the function's text uses, and the function,
/// which takes and returns an element of each array. Numbers of 16 bits pass as float.
class UserFunctions {
 public:
  /// The name to call the function of a user.map by; adds its text once.
  std::string use(const ir::CallRef& user_map, const std::vector<DType>& operands);
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> names_, texts_;
};

/// The type of a user's variable: "float", "long long", "float16", "complex<float>".
std::string user_type(DType dtype);
/// The section of the device library that defines it.
std::string user_section(DType dtype);

/// The sections of a CPU's library with the mathematical functions that the function's text calls.
/// With complex numbers, all that have a version for these.
std::vector<std::string> host_math_sections(const ir::CallData& user_map, bool with_complex);

}  // namespace heddle::codegen
