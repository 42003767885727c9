#pragma once

#include <string>
#include <vector>

namespace heddle::codegen {

/// A compilable translation unit for one kernel, preceded by the library sections and the users'
/// functions that it uses. `name` is the extern "C" symbol.
struct KernelSource {
  std::string name;
  /// Names of sections of the device library, in order (codegen/common/sections.h).
  std::vector<std::string> sections;
  std::string body;  ///< the kernel itself
  /// Users' functions, each with its namespace (codegen/common/user_functions.h).
  std::vector<std::string> functions = {};
  /// The whole text: every section's text, the functions, then the body.
  std::string text() const;
};

}  // namespace heddle::codegen
