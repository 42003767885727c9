#include "runtime/compile/compile_error.h"

#include <optional>

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

namespace {

/// The text of a user's kernel within generated source, marked by the `#line` directives around it.
struct UserText {
  std::string_view name, text;
};

std::optional<UserText> faulty_user_text(std::string_view log, std::string_view source) {
  constexpr std::string_view mark = "#line 1 \"", around = "around ";
  for (auto at = source.find(mark); at != std::string_view::npos; at = source.find(mark, at)) {
    at += mark.size();
    const std::string_view name = source.substr(at, source.find('"', at) - at);
    if (name.starts_with(around)) continue;
    const auto begin = source.find('\n', at) + 1;
    // Compilers write "name:2:5: error" or "name(2): error".
    const bool is_faulty = log.find(fmt::format("{}:", name)) != std::string_view::npos ||
                           log.find(fmt::format("{}(", name)) != std::string_view::npos;
    if (is_faulty) return UserText{name, source.substr(begin, source.find(mark, begin) - begin)};
  }
  return std::nullopt;
}

}  // namespace

std::string user_text_message(std::string_view name, std::string_view compiler,
                              const std::vector<std::string>& options, std::string_view log,
                              std::string_view text) {
  return fmt::format("the text of kernel '{}' does not compile with {} {}.\n{}\n{}:\n{}", name,
                     compiler, fmt::join(options, " "), log, name, number_lines(text));
}

std::string compile_message(std::string_view name, std::string_view compiler,
                            const std::vector<std::string>& options, std::string_view log,
                            std::string_view source) {
  if (const std::optional<UserText> user = faulty_user_text(log, source)) {
    return user_text_message(user->name, compiler, options, log, user->text);
  }
  return fmt::format(
      "{} does not compile with {} {}. This is a bug in Heddle; please report all of "
      "this text.\n{}\nSource:\n{}",
      name, compiler, fmt::join(options, " "), log, number_lines(source));
}

}  // namespace heddle::runtime
