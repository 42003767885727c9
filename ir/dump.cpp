#include "ir/dump.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "heddle/error.h"

namespace heddle::ir {

namespace {

std::string file_name(int number, std::string_view stage, std::string_view title) {
  std::string name = fmt::format("{:04}-{}-{}.txt", number, stage, title);
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '/' || c == ' '; }, '_');
  return name;
}

}  // namespace

bool dump_enabled(std::string_view stage) {
  const char* wanted = std::getenv("HEDDLE_DUMP");
  if (wanted == nullptr) return false;
  std::string_view rest = wanted;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view name = rest.substr(0, comma);
    if (name == stage || name == "all") return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

void dump(std::string_view stage, std::string_view title,
          const std::function<std::string()>& text) {
  if (!dump_enabled(stage)) return;
  const char* directory = std::getenv("HEDDLE_DUMP_DIR");
  if (directory == nullptr) {
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
