#include "frontend/cli/command.h"

#include <charconv>
#include <fstream>
#include <iostream>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/error.h"

#include "frontend/io/input_file.h"
#include "ir/base/kept_text.h"
#include "passes/pipeline/pipeline.h"
#include "runtime/device/device.h"

namespace heddle::cli {

void Modes::add_to(CLI::App& verb) {
  verb.add_option("--disable", disabled, "Passes and kernel families to switch off")
      ->delimiter(',')
      ->type_name("NAMES");
  verb.add_option("--donate", donated, "Positions of parameters whose memory the program may reuse")
      ->delimiter(',')
      ->type_name("INDICES");
  verb.add_flag("--strict", strict, "Do not contract a*b+c");
  verb.add_flag("--approximate", approximate,
                "Allow division and square root within 2 ulp, and fast exp and log");
}

runtime::CompileOptions Modes::options(const ir::Graph& graph) const {
  runtime::CompileOptions options;
  options.strict = strict;
  options.approximate = approximate;
  options.disabled = disabled;
  passes::require_switches(disabled, "--disable");
  for (const std::uint32_t parameter : donated) {
    if (parameter >= graph.parameters().size()) {
      throw ValueError(fmt::format("--donate {}: the program has {} parameters, counted from 0",
                                   parameter, graph.parameters().size()));
    }
    options.donated.resize(graph.parameters().size());
    options.donated[parameter] = true;
  }
  return options;
}

bool Modes::are_usual() const {
  return !strict && !approximate && disabled.empty() && donated.empty();
}

void add_mode(CLI::App& verb, unsigned& mode, const char* what) {
  const auto set = [&mode](const std::string& text) {
    const char* const last = text.data() + text.size();
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), last, value, 8);
    if (error != std::errc() || end != last || value > 0777 || (value & 0400) == 0 ||
        (value & 0022) != 0)
      throw CLI::ValidationError(
          fmt::format("--mode {}: write octal digits such as 0644 or 0600, which let you read the "
                      "file and nobody else write it",
                      text));
    mode = value;
  };
  verb.add_option_function<std::string>("--mode", set, what)->type_name("OCTAL");
}

std::string read_text(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  if (const std::string why = frontend::why_not_input(path); !why.empty())
    throw FileError(fmt::format("{}: {} (- is standard input)", path, why));
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw FileError(fmt::format("{}: cannot be read", path));
  return text;
}

const char* kept_name(const std::string& path) {
  return ir::kept_text(path == "-" ? "standard input" : path);
}

ir::Graph parse_program(const std::string& text, const std::string& path) {
  const char* const name = kept_name(path);
  try {
    return ir::parse(text, name);
  } catch (const Error& error) {
    throw ParseError(fmt::format("{}: {}", name, error.what()));
  }
}

ir::Target chosen_target(const std::string& name) {
  return name.empty() ? runtime::target_of(runtime::current_device()) : ir::parse_target(name);
}

std::vector<std::string> targets_named(const std::string& name) {
  std::vector<std::string> targets;
  for (const std::string_view row : ir::built_in_targets()) {
    if (row == name || row.starts_with(name + ":")) targets.emplace_back(row);
  }
  if (targets.empty()) {
    static_cast<void>(ir::parse_target(name));
    targets.push_back(name);
  }
  return targets;
}

}  // namespace heddle::cli
