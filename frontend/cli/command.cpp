#include "frontend/cli/command.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/error.h"

#include "passes/pipeline/pipeline.h"
#include "runtime/device/device.h"

namespace heddle::cli {

namespace {

void require_switch(const std::string& name) {
  const std::vector<std::string_view> known = passes::switches();
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  throw ValueError(
      fmt::format("'{}' cannot be switched off: what can is {}", name, fmt::join(known, ", ")));
}

}  // namespace

void Modes::add_to(CLI::App& verb) {
  verb.add_option("--disable", disabled, "Passes and kernel families to switch off")
      ->delimiter(',')
      ->type_name("NAMES");
  verb.add_option("--donate", donated, "Parameters whose memory the program may write")
      ->delimiter(',')
      ->type_name("INDICES");
  verb.add_flag("--strict", strict, "No contraction of a*b+c");
  verb.add_flag("--approximate", approximate,
                "Division and square root within 2 ulp, fast exp and log");
}

runtime::CompileOptions Modes::options(const ir::Graph& graph) const {
  runtime::CompileOptions options;
  options.strict = strict;
  options.approximate = approximate;
  options.disabled = disabled;
  for (const std::string& name : disabled) require_switch(name);
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

std::string read_text(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw FileError(fmt::format("{}: cannot be read", path));
  return text;
}

const char* kept_name(const std::string& path) {
  return (new std::string(path == "-" ? "standard input" : path))->c_str();
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
