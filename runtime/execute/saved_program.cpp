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
constexpr std::string_view magic = "HEDDLEP\n", arguments_word = "arguments ";

FileError no_program(const std::string& path, std::string_view why) {
  return FileError(fmt::format("{} is no program that save() wrote: {}", path, why));
}

/// "arguments 3 0 2": of three arguments the program's two parameters are the first and the last.
void parse_arguments(const std::string& path, std::string_view line, SavedProgram& saved) {
  if (!line.starts_with(arguments_word)) throw no_program(path, "it does not say its arguments");
  std::vector<std::size_t> numbers;
  for (const std::string_view word : ir::split(line.substr(arguments_word.size()), ' ')) {
    std::size_t& number = numbers.emplace_back();
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size())
      throw no_program(path, fmt::format("'{}' is no number of an argument", word));
  }
  if (numbers.empty()) throw no_program(path, "it does not say its arguments");
  saved.arguments = numbers[0];
  saved.sources.assign(numbers.begin() + 1, numbers.end());
}

SavedProgram parse(const std::string& path, std::string_view text) {
  SavedProgram saved;
  const std::size_t end = std::min(text.find('\n'), text.size());
  parse_arguments(path, text.substr(0, end), saved);
  std::vector<RecordedProgram> programs;
  try {
    programs = parse_recording(text.substr(std::min(end + 1, text.size())), ir::kept_text(path));
  } catch (const ParseError& error) {
    throw no_program(path, error.what());
  }
  if (programs.size() != 1) throw no_program(path, "it holds not one program");
  saved.program = std::move(programs.front());
  const auto& sources = saved.sources;
  if (sources.size() != saved.program.graph.parameters().size() ||
      std::any_of(sources.begin(), sources.end(),
                  [&](std::uint32_t source) { return source >= saved.arguments; }))
    throw no_program(path, "its arguments are not those of its program");
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
  const std::string text = fmt::format("{}{} {}\n{}", arguments_word, saved.arguments,
                                       fmt::join(saved.sources, " "), recording_of(program));
  const std::uint64_t length = text.size();
  std::string bytes(magic);
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes += text;
  bytes += cache::encode_bundle(entries);
  cache::write_shipped(path, std::move(bytes), mode);
}

SavedProgram load_saved_program(const std::string& path, cache::Foreign foreign) {
  const std::string bytes = cache::read_shipped(path, foreign);
  if (!bytes.starts_with(magic)) throw no_program(path, "it begins otherwise");
  std::uint64_t length = 0;
  const std::size_t begin = magic.size() + sizeof length;
  if (bytes.size() < begin) throw no_program(path, "it is cut off");
  std::memcpy(&length, bytes.data() + magic.size(), sizeof length);
  if (bytes.size() - begin < length) throw no_program(path, "it is cut off");
  SavedProgram saved = parse(path, std::string_view(bytes).substr(begin, length));
  cache::Store::global().add_bundle(cache::Bundle(bytes.substr(begin + length), path));
  return saved;
}

}  // namespace heddle::runtime
