#include "ir/base/dump.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "ir/base/new_file.h"

namespace heddle::ir {

namespace {

std::string file_name(int number, std::string_view stage, std::string_view title) {
  std::string name = fmt::format("{:04}-{}-{}.txt", number, stage, title);
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '/' || c == ' '; }, '_');
  return name;
}

}  // namespace

bool dump_enabled(std::string_view stage) {
  if (!is_set(Variable::dump)) return false;
  return std::ranges::any_of(names(Variable::dump),
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
  if (const int error = write_new_file(path, text()))
    throw FileError(
        fmt::format("HEDDLE_DUMP_DIR: cannot write {}: {}", path, std::strerror(error)));
}

}  // namespace heddle::ir
