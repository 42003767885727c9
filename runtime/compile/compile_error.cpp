#include "runtime/compile/compile_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace heddle::runtime {

std::string number_lines(std::string_view source) {
  std::string out;
  int line = 1;
  while (!source.empty()) {
    const std::size_t end = source.find('\n');
    out += fmt::format("{:5} | {}\n", line++, source.substr(0, end));
    if (end == std::string_view::npos) break;
    source.remove_prefix(end + 1);
  }
  return out;
}

std::string compile_message(std::string_view name, std::string_view compiler,
                            const std::vector<std::string>& options, std::string_view log,
                            std::string_view source) {
  return fmt::format(
      "{} does not compile with {} {}. This is a bug in Heddle; please report all of "
      "this text.\n{}\nSource:\n{}",
      name, compiler, fmt::join(options, " "), log, number_lines(source));
}

}  // namespace heddle::runtime
