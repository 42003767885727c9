#include "ir/base/dump.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "ir/base/split.h"

namespace heddle::ir {

namespace {

std::string file_name(int number, std::string_view stage, std::string_view title) {
  std::string name = fmt::format("{:04}-{}-{}.txt", number, stage, title);
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '/' || c == ' '; }, '_');
  return name;
}

}  // namespace

bool dump_enabled(std::string_view stage) {
  const std::string wanted = environment(Variable::dump);
  const std::vector<std::string_view> names = split(wanted, ',');
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return name == stage || name == "all"; });
}

void dump(std::string_view stage, std::string_view title,
          const std::function<std::string()>& text) {
  if (!dump_enabled(stage)) return;
  const std::string directory = environment(Variable::dump_dir);
  if (directory.empty()) {
    fmt::print(stderr, "// {}: {}\n{}\n", stage, title, text());
    return;
  }
  static std::atomic<int> count{0};
  const std::string path = fmt::format("{}/{}", directory, file_name(count++, stage, title));
  std::ofstream file(path);
  file << text();
  if (!file) throw FileError("HEDDLE_DUMP_DIR: cannot write " + path);
}

}  // namespace heddle::ir
