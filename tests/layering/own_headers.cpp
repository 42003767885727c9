// Precompiled headers would hide that a file does not include what it uses. So the names of those
// headers are looked up in every source, and their headers among its includes.

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace heddle::test {
namespace {

namespace fs = std::filesystem;

const fs::path root = HEDDLE_SOURCE_FOLDER;
constexpr std::array folders = {"ir", "passes", "codegen", "runtime", "frontend", "tests", "bench"};

/// Names behind std:: or fmt:: by the header that has them. Names that several headers have are
/// left out.
const std::map<std::string, std::vector<std::string_view>> names_of = {
    {"algorithm",
     {"sort",         "stable_sort", "find_if",     "any_of",           "all_of",        "none_of",
      "fill",         "fill_n",      "transform",   "count_if",         "clamp",         "reverse",
      "unique",       "lower_bound", "upper_bound", "max_element",      "min_element",   "copy_n",
      "copy_if",      "for_each",    "mismatch",    "is_sorted",        "generate",      "min",
      "max",          "minmax",      "partition",   "stable_partition", "adjacent_find", "replace",
      "binary_search"}},
    {"array", {"array", "to_array"}},
    {"functional", {"function", "ref", "cref", "less", "greater", "plus", "multiplies", "invoke"}},
    {"map", {"map", "multimap"}},
    {"memory", {"unique_ptr", "shared_ptr", "weak_ptr", "make_unique", "make_shared"}},
    {"optional", {"optional", "nullopt"}},
    {"string", {"string", "to_string", "stoi", "stoll", "getline"}},
    {"string_view", {"string_view"}},
    {"unordered_map", {"unordered_map", "unordered_multimap"}},
    {"variant", {"variant", "visit", "get_if", "holds_alternative", "monostate"}},
    {"vector", {"vector"}},
    {"fmt/format.h", {"fmt::format", "fmt::format_to", "fmt::to_string"}},
    {"fmt/ranges.h", {"fmt::join"}},
};

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// The end of the literal that begins at `begin`, with its quotes.
std::size_t end_of_literal(std::string_view text, std::size_t begin) {
  if (begin > 0 && text[begin - 1] == 'R' && text[begin] == '"') {
    const std::size_t open = text.find('(', begin);
    const std::string close = fmt::format("){}\"", text.substr(begin + 1, open - begin - 1));
    return text.find(close, open) + close.size();
  }
  std::size_t end = begin + 1;
  while (end < text.size() && text[end] != text[begin] && text[end] != '\n')
    end += text[end] == '\\' ? 2 : 1;
  return end + 1;
}

/// The text without comments, and without what stands in quotes.
std::string code_of(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const bool separates_digits = text[i] == '\'' && i > 0 && is_of_name(text[i - 1]);
    if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i, 2) == "/*") {
      i = std::min(text.find("*/", i), text.size() - 2) + 2;
    } else if ((text[i] == '"' || text[i] == '\'') && !separates_digits) {
      i = end_of_literal(text, i);
    } else {
      out += text[i++];
    }
  }
  return out;
}

/// The precompiled headers of which the text uses names.
std::set<std::string> headers_used(std::string_view text) {
  static const std::map<std::string, std::string> header_of = [] {
    std::map<std::string, std::string> out;
    for (const auto& [header, names] : names_of) {
      for (std::string_view name : names)
        out[name.starts_with("fmt::") ? std::string(name) : fmt::format("std::{}", name)] = header;
    }
    return out;
  }();
  std::set<std::string> used;
  const std::string code = code_of(text);
  for (std::size_t at = code.find("::"); at != std::string::npos; at = code.find("::", at + 2)) {
    if (at < 3) continue;
    const std::string space = code.substr(at - 3, 3);
    if ((space != "std" && space != "fmt") || (at > 3 && is_of_name(code[at - 4]))) continue;
    std::size_t begin = at + 2;
    if (code.compare(begin, 8, "ranges::") == 0) begin += 8;
    std::size_t end = begin;
    while (end < code.size() && is_of_name(code[end])) ++end;
    const auto found =
        header_of.find(fmt::format("{}::{}", space, code.substr(begin, end - begin)));
    if (found != header_of.end()) used.insert(found->second);
  }
  return used;
}

std::vector<std::string> includes_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t word = line.find_first_not_of(" \t");
    if (word == std::string::npos || line.compare(word, 9, "#include ") != 0) continue;
    const std::size_t begin = word + 10;
    out.push_back(line.substr(begin, line.find_first_of("\">", begin) - begin));
  }
  return out;
}

/// The file of the tree that `include` in a file of `folder` means; empty if it is of another
/// library.
fs::path file_of(const fs::path& folder, const std::string& include) {
  for (const fs::path& from : {folder, root, root / "ir/include", root / "frontend/include"}) {
    if (fs::exists(from / include)) return (from / include).lexically_normal();
  }
  return {};
}

/// The includes of a file that are of other libraries, and those of the files of the tree that it
/// includes.
const std::set<std::string>& reached(const fs::path& file) {
  static std::map<fs::path, std::set<std::string>> known;
  const auto [place, is_new] = known.try_emplace(file);
  std::set<std::string>& out = place->second;
  if (!is_new) return out;
  for (const std::string& include : includes_of(read(file))) {
    const fs::path inner = file_of(file.parent_path(), include);
    if (inner.empty()) {
      out.insert(include);
    } else {
      const std::set<std::string>& more = reached(inner);
      out.insert(more.begin(), more.end());
    }
  }
  return out;
}

TEST_CASE("every file includes the precompiled headers that it uses") {
  int files = 0;
  for (const char* folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const fs::path& file = entry.path();
      if (file.extension() != ".cpp" && file.extension() != ".h") continue;
      ++files;
      for (const std::string& header : headers_used(read(file))) {
        if (!reached(file).contains(header))
          FAIL_CHECK(fmt::format("{} uses names of <{}>: include it", file.string(), header));
      }
    }
  }
  CHECK(files > 900);
}

TEST_CASE("every precompiled header has its names here") {
  std::istringstream headers(HEDDLE_PRECOMPILED_HEADERS);
  std::size_t count = 0;
  for (std::string header; headers >> header; ++count) CHECK(names_of.contains(header));
  CHECK(count == names_of.size());
}

TEST_CASE("uses are found in code, not in comments or literals") {
  using Headers = std::set<std::string>;
  CHECK(headers_used("std::vector<int> a; std::ranges::sort(a);") ==
        Headers{"algorithm", "vector"});
  CHECK(headers_used("fmt::join(a, \"std::map\")") == Headers{"fmt/ranges.h"});
  CHECK(headers_used("// std::map\n/* std::array */ int a = 1'000;").empty());
  CHECK(headers_used("R\"x(std::map \" )x\" '\"' std::optional<int> b").contains("optional"));
  CHECK(headers_used("mystd::map<int> std::mapping").empty());
  CHECK(includes_of("#include <map>\n  #include \"a/b.h\"\n") ==
        std::vector<std::string>{"map", "a/b.h"});
}

}  // namespace
}  // namespace heddle::test
