#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/error.h"

#include "runtime/compile/reproducer.h"

namespace heddle::runtime {

/// The source with a line number before each line.
std::string number_lines(std::string_view source);

/// Thrown when a compiler rejects generated source. what() contains the compiler, its options, its
/// output and the numbered source.
class CompileFailure final : public CompileError {
 public:
  CompileFailure(const std::string& what, std::string kernel, Reproduction reproduction)
      : CompileError(what), kernel(std::move(kernel)), reproduction(std::move(reproduction)) {}
  std::string kernel;  ///< the kernel with the faulty source
  Reproduction reproduction;
};

/// Formats the message for a user's text that does not compile. `name` is that of the kernel.
std::string user_text_message(std::string_view name, std::string_view compiler,
                              const std::vector<std::string>& options, std::string_view log,
                              std::string_view text);

/// Formats the message of a CompileFailure.
std::string compile_message(std::string_view name, std::string_view compiler,
                            const std::vector<std::string>& options, std::string_view log,
                            std::string_view source);

}  // namespace heddle::runtime
