#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace heddle::test {
namespace {

namespace fs = std::filesystem;

/// The pipeline: a folder may include what stands left of it.
constexpr std::array<std::string_view, 5> stages = {"ir", "passes", "codegen", "runtime",
                                                    "frontend"};
const fs::path root = HEDDLE_SOURCE_FOLDER;

std::optional<std::ptrdiff_t> stage_of(std::string_view path) {
  const auto stage = std::ranges::find(stages, path.substr(0, path.find('/')));
  if (stage == stages.end()) return std::nullopt;
  return stage - stages.begin();
}

/// Where an include of a public header, "heddle/x.h", really is.
std::string resolve(const std::string& include) {
  if (!include.starts_with("heddle/")) return include;
  for (const char* folder : {"ir/include/", "frontend/include/"}) {
    if (fs::exists(root / (folder + include))) return folder + include;
  }
  return include;
}

bool is_standard(const std::string& include) {
  return include.find_first_of("./") == std::string::npos;
}

bool is_public(std::string_view path) {
  return path.find("/include/heddle/") != std::string_view::npos;
}

/// Text that kernels are printed over: compiled where there are no headers.
bool is_embedded(std::string_view path) {
  return path.starts_with("ir/scalar/") || path.starts_with("codegen/device/");
}

/// Why `path` may not have these contents; empty when it may.
std::vector<std::string> violations(const std::string& path, const std::string& text) {
  static const std::regex pattern(R"re((?:^|\n)[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">])re");
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) {
    const bool quoted = (*it)[1] == "\"";
    const std::string include = resolve((*it)[2]);
    const auto forbid = [&](const char* why) {
      found.push_back(fmt::format("{} includes {}: {}", path, include, why));
    };
    if (is_embedded(path)) {
      forbid("embedded text has no includes");
    } else if (is_public(path) && !is_public(include) && (quoted || !is_standard(include))) {
      forbid("public headers include each other and the standard library only");
    } else if (const auto stage = stage_of(include); stage && *stage > *stage_of(path)) {
      forbid("it stands to the right of it");
    } else if (include.starts_with("tests/") || include.starts_with("bench/")) {
      forbid("the library does not know its tests");
    }
  }
  return found;
}

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_CASE("every stage includes only what stands left of it") {
  int files = 0;
  for (std::string_view stage : stages) {
    for (const auto& entry : fs::recursive_directory_iterator(root / stage)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp" && extension != ".def") continue;
      ++files;
      const std::string path = fs::relative(entry.path(), root).generic_string();
      for (const std::string& violation : violations(path, read(entry.path()))) {
        FAIL_CHECK(violation);
      }
    }
  }
  CHECK(files > 20);
}

/// Locks that a fork may find taken. ir/fork_gate has its own beneath; the thread pool's are
/// forgotten in the child with the pool.
std::vector<std::string> foreign_locks(const std::string& path, const std::string& text) {
  static const std::regex pattern(
      R"(std::(recursive_|timed_|shared_)?mutex\b|std::condition_variable|std::(promise|future|shared_future|latch|barrier|counting_semaphore|binary_semaphore)\b|pthread_atfork)");
  std::vector<std::string> found;
  if (path.starts_with("ir/fork_gate.") || path == "runtime/thread_pool.cpp") return found;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
    found.push_back(fmt::format("{} has a {}: use those of ir/fork_gate.h", path, it->str()));
  return found;
}

TEST_CASE("every lock is one that a fork finds free") {
  for (std::string_view stage : stages) {
    for (const auto& entry : fs::recursive_directory_iterator(root / stage)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp") continue;
      const std::string path = fs::relative(entry.path(), root).generic_string();
      for (const std::string& lock : foreign_locks(path, read(entry.path()))) FAIL_CHECK(lock);
    }
  }
  CHECK(foreign_locks("runtime/a.cpp", "std::mutex a; std::shared_mutex b;").size() == 2);
  CHECK(foreign_locks("runtime/a.cpp", "ir::Mutex a; std::lock_guard lock(a);").empty());
}

TEST_CASE("an include to the right is found") {
  CHECK(violations("ir/a.cpp", "#include \"ir/graph.h\"\n#include <vector>\n").empty());
  CHECK(violations("frontend/a.cpp", "#include \"ir/graph.h\"").empty());
  CHECK(violations("ir/a.cpp", "#include \"passes/program.h\"").size() == 1);
  CHECK(violations("passes/a.h", "\n#  include \"runtime/x.h\"\n#include \"ir/graph.h\"").size() ==
        1);
  CHECK(violations("codegen/a.cpp", "#include <heddle/array.h>").size() == 1);
  CHECK(violations("codegen/a.cpp", "#include <heddle/dtype.h>").empty());
  CHECK(violations("runtime/a.cpp", "#include \"tests/support/oracle.h\"").size() == 1);
}

TEST_CASE("a private include of a public header is found") {
  const std::string header = "frontend/include/heddle/array.h";
  CHECK(violations(header, "#include <vector>\n#include \"heddle/dtype.h\"\n").empty());
  CHECK(violations(header, "#include <fmt/format.h>").size() == 1);
  CHECK(violations(header, "#include \"frontend/node.h\"").size() == 1);
  CHECK(violations("ir/include/heddle/dtype.h", "#include \"heddle/array.h\"").size() == 1);
}

TEST_CASE("an include of embedded text is found") {
  CHECK(violations("ir/scalar/exp.h", "#include <cmath>").size() == 1);
  CHECK(violations("codegen/device/warp.h", "int x;").empty());
}

}  // namespace
}  // namespace heddle::test
