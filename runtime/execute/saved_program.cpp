#include "runtime/execute/saved_program.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/error.h"

#include "ir/base/kept_text.h"
#include "ir/base/split.h"
#include "runtime/cache/store.h"
#include "runtime/compile/compile.h"

namespace heddle::runtime {

namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::string_view magic = "HEDDLEP\n", arguments_word = "arguments ", name_word = "name ";

FileError no_program(const std::string& path, std::string_view why) {
  return FileError(fmt::format("{} is not a file written by save(): {}", path, why));
}

/// Cuts the first line off the text.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// "arguments 3 0 2": of three arguments, the program's two parameters are the first and the last.
/// Three lines "name TEXT" follow.
void parse_arguments(const std::string& path, std::string_view& text, SavedProgram& saved) {
  const std::string_view line = take_line(text);
  if (!line.starts_with(arguments_word)) throw no_program(path, "it does not list its arguments");
  std::vector<std::size_t> numbers;
  for (const std::string_view word : ir::split(line.substr(arguments_word.size()), ' ')) {
    std::size_t& number = numbers.emplace_back();
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size())
      throw no_program(path, fmt::format("'{}' is not an argument number", word));
  }
  if (numbers.empty()) throw no_program(path, "it does not list its arguments");
  for (std::size_t i = 0; i < numbers[0]; ++i) {
    const std::string_view name = take_line(text);
    if (!name.starts_with(name_word)) throw no_program(path, "it does not name its arguments");
    saved.names.emplace_back(name.substr(name_word.size()));
  }
  saved.sources.assign(numbers.begin() + 1, numbers.end());
}

SavedProgram parse(const std::string& path, std::string_view text) {
  SavedProgram saved;
  parse_arguments(path, text, saved);
  std::vector<RecordedProgram> programs;
  try {
    programs = parse_recording(text, ir::kept_text(path));
  } catch (const ParseError& error) {
    throw no_program(path, error.what());
  }
  if (programs.size() != 1) throw no_program(path, "it does not contain exactly one program");
  saved.program = std::move(programs.front());
  const auto& sources = saved.sources;
  if (sources.size() != saved.program.graph.parameters().size() ||
      std::any_of(sources.begin(), sources.end(),
                  [&](std::uint32_t source) { return source >= saved.names.size(); }))
    throw no_program(path, "its arguments do not match its program");
  return saved;
}

}  // namespace

void save_program(const std::string& path, const SavedProgram& saved,
                  const std::vector<ir::Target>& targets, unsigned mode) {
  const RecordedProgram& program = saved.program;
  const CompileOptions options = with_environment(program.options);
  std::vector<std::string> entries;
  for (const ir::Target& target : targets)
    entries.push_back(program_entry(program.graph, options, target));
  std::string text =
      fmt::format("{}{} {}\n", arguments_word, saved.names.size(), fmt::join(saved.sources, " "));
  for (const std::string& name : saved.names) text += fmt::format("{}{}\n", name_word, name);
  text += recording_of(program);
  const std::uint64_t length = text.size();
  std::string bytes(magic);
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes += text;
  bytes += cache::encode_bundle(entries);
  cache::write_shipped(path, std::move(bytes), mode);
}

SavedProgram load_saved_program(const std::string& path, cache::Foreign foreign) {
  const std::string bytes = cache::read_shipped(path, foreign);
  if (!bytes.starts_with(magic)) throw no_program(path, "its header is wrong");
  std::uint64_t length = 0;
  const std::size_t begin = magic.size() + sizeof length;
  if (bytes.size() < begin) throw no_program(path, "it is truncated");
  std::memcpy(&length, bytes.data() + magic.size(), sizeof length);
  if (bytes.size() - begin < length) throw no_program(path, "it is truncated");
  SavedProgram saved = parse(path, std::string_view(bytes).substr(begin, length));
  cache::Store::global().add_bundle(cache::Bundle(bytes.substr(begin + length), path));
  return saved;
}

}  // namespace heddle::runtime
