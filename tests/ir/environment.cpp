#include "ir/base/environment.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include <doctest/doctest.h>

using namespace heddle;

namespace {

/// Those that README.md has a row for.
std::set<std::string> names_in_readme() {
  std::ifstream file(HEDDLE_SOURCE_FOLDER "/README.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = text.find("## Environment variables");
  const std::string section = text.substr(begin, text.find("\n## ", begin + 1) - begin);
  std::set<std::string> names;
  static const std::regex row(R"(\n\| ((`HEDDLE_[A-Z_]+`(, )?)+) \|)"), name("HEDDLE_[A-Z_]+");
  for (std::sregex_iterator it(section.begin(), section.end(), row), end; it != end; ++it) {
    const std::string cell = (*it)[1];
    for (std::sregex_iterator one(cell.begin(), cell.end(), name); one != end; ++one)
      names.insert(one->str());
  }
  return names;
}

}  // namespace

TEST_CASE("README.md has a row for every variable of our own, and for no other") {
  std::set<std::string> names;
  for (const ir::VariableInfo& variable : ir::variables()) {
    CHECK(*variable.values != '\0');
    CHECK(*variable.otherwise != '\0');
    CHECK(*variable.meaning != '\0');
    if (std::string(variable.name).starts_with("HEDDLE_")) names.insert(variable.name);
  }
  CHECK(names.size() > 25);
  CHECK(names == names_in_readme());
}

TEST_CASE("a variable that is not set is empty") {
  constexpr ir::Variable variable = ir::Variable::record;
  const char* const name = ir::info(variable).name;
  CHECK(std::string(name) == "HEDDLE_RECORD");
  unsetenv(name);
  CHECK_FALSE(ir::is_set(variable));
  CHECK(ir::environment(variable).empty());
  setenv(name, "", 1);
  CHECK(ir::is_set(variable));
  CHECK(ir::environment(variable).empty());
  setenv(name, "/tmp/programs", 1);
  CHECK(ir::environment(variable) == "/tmp/programs");
  unsetenv(name);
}
