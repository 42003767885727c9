#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
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
/// The same of the subfolders of a stage. All of its files lie in one.
const std::map<std::string_view, std::vector<std::string_view>> subfolders = {
    {"ir", {"base", "scalar", "types", "infer", "interpreter", "calls", "graph"}},
    {"passes",
     {"program", "rewrite", "groups", "plan", "calls", "fuse", "lower", "pipeline", "report"}},
    {"codegen", {"common", "page", "blocks", "host", "cuda"}},
    {"runtime",
     {"ready_loops", "base", "cache", "device", "compile", "libraries", "calls", "launch", "cuda",
      "host", "profile", "execute", "report"}},
    {"frontend",
     {"graph", "evaluate", "streams", "array", "random", "control", "transform", "numpy", "linalg",
      "fft", "distributed", "exchange", "kernels", "nn", "sparse", "jit", "io", "cli", "python"}},
};
const fs::path root = HEDDLE_SOURCE_FOLDER;

std::string_view first_part(std::string_view path) { return path.substr(0, path.find('/')); }

std::optional<std::ptrdiff_t> stage_of(std::string_view path) {
  const auto stage = std::ranges::find(stages, first_part(path));
  if (stage == stages.end()) return std::nullopt;
  return stage - stages.begin();
}

/// The position of a file's subfolder in the order of its stage. Empty if the file is in none.
std::optional<std::ptrdiff_t> subfolder_of(std::string_view path) {
  const auto order = subfolders.find(first_part(path));
  if (order == subfolders.end() || path.find('/') == std::string_view::npos) return std::nullopt;
  const std::string_view inside = path.substr(path.find('/') + 1);
  if (inside.find('/') == std::string_view::npos) return std::nullopt;
  const auto folder = std::ranges::find(order->second, first_part(inside));
  if (folder == order->second.end()) return std::nullopt;
  return folder - order->second.begin();
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
  return path.starts_with("ir/scalar/") || path.starts_with("codegen/device/") ||
         path.starts_with("codegen/user/");
}

/// What users' texts call may need the host's C library.
bool is_for_users(std::string_view path) { return path.starts_with("codegen/user/"); }

/// Why `path` may not have these contents; empty when it may.
std::vector<std::string> violations(const std::string& path, const std::string& text) {
  static const std::regex pattern(R"re((?:^|\n)[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">])re");
  std::vector<std::string> found;
  if (subfolders.contains(first_part(path)) && !subfolder_of(path) && !is_embedded(path) &&
      !is_public(path))
    found.push_back(path + " lies in no folder of its stage's order");
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) {
    const bool quoted = (*it)[1] == "\"";
    const std::string include = resolve((*it)[2]);
    const auto forbid = [&](const char* why) {
      found.push_back(fmt::format("{} includes {}: {}", path, include, why));
    };
    if (is_for_users(path) && !quoted) continue;
    if (is_embedded(path)) {
      forbid("embedded text has no includes");
    } else if (is_public(path) && !is_public(include) && (quoted || !is_standard(include))) {
      forbid("public headers include each other and the standard library only");
    } else if (const auto stage = stage_of(include); stage && *stage > *stage_of(path)) {
      forbid("it stands to the right of it");
    } else if (first_part(include) == first_part(path) && subfolder_of(path) &&
               subfolder_of(include) > subfolder_of(path)) {
      forbid("its folder stands to the right of it");
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

int for_every_source(const std::function<void(const std::string&, const std::string&)>& look) {
  int files = 0;
  for (std::string_view stage : stages) {
    for (const auto& entry : fs::recursive_directory_iterator(root / stage)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp" && extension != ".def") continue;
      ++files;
      look(fs::relative(entry.path(), root).generic_string(), read(entry.path()));
    }
  }
  return files;
}

TEST_CASE("every stage and every folder includes only what stands left of it") {
  const int files = for_every_source([](const std::string& path, const std::string& text) {
    for (const std::string& violation : violations(path, text)) FAIL_CHECK(violation);
  });
  CHECK(files > 20);
}

/// Locks that a fork may find taken. ir/fork_gate has its own beneath; the thread pool's are
/// forgotten in the child with the pool.
std::vector<std::string> foreign_locks(const std::string& path, const std::string& text) {
  static const std::regex pattern(
      R"(std::(recursive_|timed_|shared_)?mutex\b|std::condition_variable|std::(promise|future|shared_future|latch|barrier|counting_semaphore|binary_semaphore)\b|pthread_atfork)");
  std::vector<std::string> found;
  if (path.starts_with("ir/base/fork_gate.") || path == "runtime/base/thread_pool.cpp")
    return found;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
    found.push_back(fmt::format("{} has a {}: use those of ir/base/fork_gate.h", path, it->str()));
  return found;
}

TEST_CASE("every lock is one that a fork finds free") {
  for_every_source([](const std::string& path, const std::string& text) {
    for (const std::string& lock : foreign_locks(path, text)) FAIL_CHECK(lock);
  });
  CHECK(foreign_locks("runtime/a.cpp", "std::mutex a; std::shared_mutex b;").size() == 2);
  CHECK(foreign_locks("runtime/a.cpp", "ir::Mutex a; std::lock_guard lock(a);").empty());
}

/// Reads of the environment outside its table.
std::vector<std::string> reads_of_environment(const std::string& path, const std::string& text) {
  static const std::regex pattern(R"(\b(secure_)?getenv\b)");
  if (path == "ir/base/environment.cpp" || !std::regex_search(text, pattern)) return {};
  return {path + " reads the environment: use ir/base/environment.h"};
}

TEST_CASE("every environment variable stands in the table") {
  for_every_source([](const std::string& path, const std::string& text) {
    for (const std::string& read : reads_of_environment(path, text)) FAIL_CHECK(read);
  });
  CHECK(reads_of_environment("runtime/base/a.cpp", "std::getenv(name)").size() == 1);
  CHECK(reads_of_environment("runtime/base/a.cpp", "environment(name)").empty());
}

TEST_CASE("an include to the right is found") {
  CHECK(violations("ir/graph/a.cpp", "#include \"ir/graph/graph.h\"\n#include <vector>\n").empty());
  CHECK(violations("frontend/graph/a.cpp", "#include \"ir/graph/graph.h\"").empty());
  CHECK(violations("ir/graph/a.cpp", "#include \"passes/program/program.h\"").size() == 1);
  CHECK(violations("passes/plan/a.h", "\n#  include \"runtime/x.h\"\n#include \"ir/graph/graph.h\"")
            .size() == 1);
  CHECK(violations("codegen/cuda/a.cpp", "#include <heddle/array.h>").size() == 1);
  CHECK(violations("codegen/cuda/a.cpp", "#include <heddle/dtype.h>").empty());
  CHECK(violations("runtime/base/a.cpp", "#include \"tests/support/oracle.h\"").size() == 1);
}

TEST_CASE("an include of a folder to the right, and a file in no folder, are found") {
  CHECK(violations("passes/plan/a.cpp", "#include \"passes/groups/group.h\"").empty());
  CHECK(violations("passes/plan/a.cpp", "#include \"passes/plan/walk.h\"").empty());
  CHECK(violations("passes/groups/a.cpp", "#include \"passes/plan/walk.h\"").size() == 1);
  CHECK(violations("passes/a.cpp", "#include \"ir/graph/graph.h\"").size() == 1);
  CHECK(violations("passes/other/a.cpp", "").size() == 1);
}

TEST_CASE("a private include of a public header is found") {
  const std::string header = "frontend/include/heddle/array.h";
  CHECK(violations(header, "#include <vector>\n#include \"heddle/dtype.h\"\n").empty());
  CHECK(violations(header, "#include <fmt/format.h>").size() == 1);
  CHECK(violations(header, "#include \"frontend/graph/node.h\"").size() == 1);
  CHECK(violations("ir/include/heddle/dtype.h", "#include \"heddle/array.h\"").size() == 1);
}

TEST_CASE("an include of embedded text is found") {
  CHECK(violations("ir/scalar/exp.h", "#include <cmath>").size() == 1);
  CHECK(violations("codegen/device/warp.h", "int x;").empty());
}

}  // namespace
}  // namespace heddle::test
