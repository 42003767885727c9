#pragma once

#include <string>
#include <vector>

namespace heddle::codegen {

/// A compilable translation unit for one kernel, without includes, preceded by the library sections
/// that it uses. `name` is the extern "C" symbol.
struct KernelSource {
  std::string name;
  /// Names of sections of the device library, in order (codegen/common/sections.h).
  std::vector<std::string> sections;
  std::string body;  ///< the kernel itself
  /// The whole text: every section's text, then the body.
  std::string text() const;
};

}  // namespace heddle::codegen
