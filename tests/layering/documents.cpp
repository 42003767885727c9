#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace heddle::test {
namespace {

namespace fs = std::filesystem;

const fs::path root = HEDDLE_SOURCE_FOLDER;
/// README.md and all documents below these folders are read.
constexpr std::array<std::string_view, 6> documented = {"docs",    "ir",      "passes",
                                                        "codegen", "runtime", "frontend"};

/// The files that a document names: a path in backticks, `passes/plan/family.h`, and anywhere, as
/// in a diagram or a command, a path that begins with a folder of the tree.
std::vector<std::string> files_named(const std::string& text) {
  static const std::regex pattern(
      R"re((?:`([\w.+-]+(?:/[\w.+-]+)+\.(?:h|cpp|def|py|sh|md|txt|toml))`))re"
      R"re(|(?:(?:^|[^\w./+-])((?:bench|cmake|codegen|docs|examples|frontend|ir|passes|runtime|tests|tools)/)re"
      R"re((?:[\w.+-]+/)*[\w+-][\w.+-]*\.(?:h|cpp|def|py|sh|md|txt|toml))(?![\w/]|\.\w)))re");
  std::vector<std::string> files;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
    files.push_back((*it)[1].matched ? (*it)[1] : (*it)[2]);
  return files;
}

/// Paths are relative to the root or to the document's folder. Public headers, "heddle/array.h",
/// are named as they are included.
bool exists(const std::string& file, const fs::path& folder) {
  const std::array<fs::path, 4> folders = {root, folder, root / "ir/include",
                                           root / "frontend/include"};
  return std::ranges::any_of(
      folders, [&](const fs::path& each) { return fs::is_regular_file(each / file); });
}

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_CASE("every file that a document names exists") {
  std::vector<fs::path> documents = {root / "README.md"};
  for (std::string_view folder : documented) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.path().extension() == ".md") documents.push_back(entry.path());
  }
  int files = 0;
  for (const fs::path& document : documents) {
    for (const std::string& file : files_named(read(document))) {
      ++files;
      if (exists(file, document.parent_path())) continue;
      FAIL_CHECK(fmt::format("{} names {}, which does not exist",
                             fs::relative(document, root).generic_string(), file));
    }
  }
  CHECK(documents.size() > 20);
  CHECK(files > 150);
}

TEST_CASE("files are found in backticks, in diagrams and in commands") {
  using Files = std::vector<std::string>;
  CHECK(files_named("as in `plan/family.h`, and `heddle/array.h`.") ==
        Files{"plan/family.h", "heddle/array.h"});
  CHECK(files_named("```\nir/graph/graph.h -> (passes/a.cpp)\n```") ==
        Files{"ir/graph/graph.h", "passes/a.cpp"});
  CHECK(files_named("`python tools/a.py --check`, see docs/a.md.") ==
        Files{"tools/a.py", "docs/a.md"});
  CHECK(files_named(
            "`file.cpp`, `a/b`, https://a.org/docs/b.md, `frontend/python/`, ir/a.html, ir/a.h.in")
            .empty());
}

TEST_CASE("a file that does not exist is noticed") {
  CHECK(exists("ir/README.md", root / "docs"));
  CHECK(exists("types/op.h", root / "ir"));
  CHECK(exists("heddle/array.h", root / "docs"));
  CHECK_FALSE(exists("types/op.h", root / "docs"));
  CHECK_FALSE(exists("ir/no_such_file.h", root / "ir"));
  CHECK_FALSE(exists("ir/graph", root));
}

}  // namespace
}  // namespace heddle::test
