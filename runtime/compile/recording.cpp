#include "runtime/compile/recording.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <unistd.h>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"
#include "ir/base/hash.h"
#include "ir/base/split.h"
#include "runtime/base/log.h"

namespace heddle::runtime {

namespace {

// File format: this header line; for each program a line with its modes, the graph's text and the
// end line.
constexpr std::string_view header = "heddle recording 1\n", last_line = "end\n";
constexpr std::string_view modes_word = "program";

std::vector<std::size_t> places_of(const std::vector<bool>& flags, bool value) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags[i] == value) places.push_back(i);
  }
  return places;
}

std::string text_of(const ir::Graph& graph, const CompileOptions& options) {
  std::string text(modes_word);
  if (options.strict) text += " strict";
  if (options.approximate) text += " approximate";
  if (const auto places = places_of(options.donated, true); !places.empty())
    text += fmt::format(" donated={}", fmt::join(places, ","));
  if (const auto places = places_of(options.aligned, false); !places.empty())
    text += fmt::format(" unaligned={}", fmt::join(places, ","));
  if (!options.disabled.empty())
    text += fmt::format(" disabled={}", fmt::join(options.disabled, ","));
  if (options.host_level != CompileOptions().host_level)
    text += fmt::format(" level={}", options.host_level);
  return fmt::format("{}\n{}{}", text, ir::print(graph), last_line);
}

/// A range of a recording's text. Parse errors name its file and line.
struct Lines {
  std::string_view text;
  std::size_t first = 0;  ///< number of the first line, from 0
  const char* file = nullptr;

  [[noreturn]] void fail(std::string_view what) const {
    throw ParseError(fmt::format("{}:{}: {}", file, first + 1, what));
  }
};

std::size_t number_from(std::string_view text, std::size_t limit, const Lines& where) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value >= limit)
    where.fail(fmt::format("'{}' is not a number below {}", text, limit));
  return value;
}

CompileOptions parse_modes(std::string_view line, std::size_t parameters, const Lines& where) {
  CompileOptions options;
  const auto mark = [&](std::vector<bool>& flags, std::string_view list, bool value) {
    flags.assign(parameters, !value);
    for (const std::string_view place : ir::split(list, ','))
      flags[number_from(place, parameters, where)] = value;
  };
  for (const std::string_view word : ir::split(line.substr(modes_word.size()), ' ')) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string_view name = word.substr(0, equals);
    const std::string_view value = word.substr(std::min(equals + 1, word.size()));
    if (word == "strict") {
      options.strict = true;
    } else if (word == "approximate") {
      options.approximate = true;
    } else if (name == "donated") {
      mark(options.donated, value, true);
    } else if (name == "unaligned") {
      mark(options.aligned, value, false);
    } else if (name == "disabled") {
      for (const std::string_view each : ir::split(value, ',')) options.disabled.emplace_back(each);
    } else if (name == "level") {
      const auto levels = static_cast<std::size_t>(CompileOptions().host_level) + 1;
      options.host_level = static_cast<int>(number_from(value, levels, where));
    } else {
      where.fail(fmt::format("'{}' is not a mode of a program", word));
    }
  }
  return options;
}

/// Parses from the modes line up to the end line, which is not included.
RecordedProgram parse_program(const Lines& lines) {
  const std::size_t end = std::min(lines.text.find('\n'), lines.text.size());
  const std::string_view modes = lines.text.substr(0, end);
  if (!modes.starts_with(modes_word))
    lines.fail("a program must begin with its modes, 'program ...'");
  // Prepends empty lines, so that line numbers in errors are those of the file.
  std::string graph(lines.first + 1, '\n');
  graph += lines.text.substr(std::min(end + 1, lines.text.size()));
  RecordedProgram program;
  try {
    program.graph = ir::parse(graph, lines.file);
  } catch (const Error& error) {
    throw ParseError(fmt::format("{}: {}", lines.file, error.what()));
  }
  program.options = parse_modes(modes, program.graph.parameters().size(), lines);
  return program;
}

class Recording {
 public:
  static Recording& global() {
    static auto* const instance = new Recording;
    return *instance;
  }

  bool active() const { return active_.load(std::memory_order_relaxed); }

  void start(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) throw failure(path);
    std::string begin(header.size(), '\0');
    const ssize_t read = pread(file, begin.data(), begin.size(), 0);
    const bool empty = read == 0;
    if (!empty && begin != header) {
      close(file);
      throw FileError(fmt::format("{} is not a recording; name another file", path));
    }
    const std::lock_guard lock(mutex_);
    replace(file, path);
    if (empty && !append(header)) throw failure(path);
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    replace(-1, {});
  }

  void add(const ir::Graph& graph, const CompileOptions& options) {
    const std::string text = text_of(graph, options);
    const std::lock_guard lock(mutex_);
    if (file_ < 0 || !known_.insert(ir::Hasher().bytes(text).finish()).second || append(text))
      return;
    log().warn("{} cannot be written ({}); the recording ends", path_, std::strerror(errno));
    replace(-1, {});
  }

 private:
  Recording() {
    const std::string path = ir::environment(ir::Variable::record);
    if (path.empty()) return;
    try {
      start(path);
    } catch (const FileError& error) {
      log().warn("HEDDLE_RECORD: {}; nothing is recorded", error.what());
    }
  }

  static FileError failure(const std::string& path) {
    return FileError(fmt::format("{}: {}", path, std::strerror(errno)));
  }

  void replace(int file, const std::string& path) {
    if (file_ >= 0) close(file_);
    file_ = file;
    path_ = path;
    known_.clear();
    active_ = file >= 0;
  }

  /// One write call, so that output of other processes cannot interleave.
  bool append(std::string_view text) const {
    return write(file_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  }

  std::atomic<bool> active_ = false;
  ir::Mutex mutex_;
  int file_ = -1;
  std::string path_;
  std::unordered_set<ir::Hash128, ir::Hash128Hasher> known_;
};

}  // namespace

std::string recording_of(const RecordedProgram& program) {
  return std::string(header) + text_of(program.graph, program.options);
}

bool is_recording_text(std::string_view text) { return text.starts_with(header); }

std::vector<RecordedProgram> parse_recording(std::string_view text, const char* file) {
  std::vector<RecordedProgram> programs;
  std::unordered_set<std::string_view> known;
  std::size_t begin = 0, first = 0;
  for (std::size_t at = 0, line = 0; at < text.size(); ++line) {
    const std::size_t next = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view here = text.substr(at, next - at);
    // Processes that create a file at the same time may each write the header.
    const bool is_header = here == header, is_end = here == last_line;
    if (is_end) {
      const Lines lines{text.substr(begin, at - begin), first, file};
      if (known.insert(lines.text).second) programs.push_back(parse_program(lines));
    }
    at = next;
    if (is_header || is_end) {
      begin = at;
      first = line + 1;
    }
  }
  if (begin < text.size())
    log().warn("{}:{}: the last program is truncated; it is skipped", file, first + 1);
  return programs;
}

void record(const std::string& path) {
  if (path.empty()) {
    Recording::global().stop();
  } else {
    Recording::global().start(path);
  }
}

bool is_recording() { return Recording::global().active(); }

void add_to_recording(const ir::Graph& graph, const CompileOptions& options) {
  Recording::global().add(graph, options);
}

}  // namespace heddle::runtime
