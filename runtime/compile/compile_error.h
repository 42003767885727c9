#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/error.h"

#include "runtime/compile/reproducer.h"

namespace heddle::runtime {

/// Source with a line number before each line.
std::string number_lines(std::string_view source);

/// Generated text that a compiler refused. what() says what compiled it, with which options, what
/// it said, and has the numbered text.
class CompileFailure final : public CompileError {
 public:
  CompileFailure(const std::string& what, std::string kernel, Reproduction reproduction)
      : CompileError(what), kernel(std::move(kernel)), reproduction(std::move(reproduction)) {}
  std::string kernel;  ///< whose text is at fault
  Reproduction reproduction;
};

/// The message of such an error.
std::string compile_message(std::string_view name, std::string_view compiler,
                            const std::vector<std::string>& options, std::string_view log,
                            std::string_view source);

}  // namespace heddle::runtime
