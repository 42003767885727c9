#include "ir/base/environment.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

using namespace heddle;

namespace {

/// Those that docs/reference/environment.md has a row for. The table is written by
/// tools/environment_table.py.
std::set<std::string> names_in_page() {
  std::ifstream file(HEDDLE_SOURCE_FOLDER "/docs/reference/environment.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = text.find("## Heddle's variables");
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

TEST_CASE("the reference has a row for every variable of our own, and for no other") {
  std::set<std::string> names;
  for (const ir::VariableInfo& variable : ir::variables()) {
    CHECK(*variable.values != '\0');
    CHECK(*variable.otherwise != '\0');
    CHECK(*variable.meaning != '\0');
    if (std::string(variable.name).starts_with("HEDDLE_")) names.insert(variable.name);
  }
  CHECK(names.size() > 25);
  CHECK(names == names_in_page());
}

TEST_CASE("values are of their variables' forms, or an error that says what is valid") {
  struct Case {
    ir::Variable variable;
    std::vector<const char*> good, bad;
  };
  for (const auto& [variable, good, bad] : {
           Case{ir::Variable::rebuild, {"", "0", "1"}, {"2", "true", "on", " 1", "01"}},
           Case{ir::Variable::num_threads, {"", "1", "4096"}, {"0", "4097", "-1", "2x", "two"}},
           Case{ir::Variable::cache_size, {"", "0", "512M"}, {"512 M", "1T", "-1", "M"}},
           Case{ir::Variable::log, {"", "warn"}, {"warning", "warn,info", "WARN"}},
           Case{ir::Variable::dump, {"", "ir", "ir,plan,", "all"}, {"everything", "ir plan"}},
           Case{ir::Variable::host_arrays, {"allow", "forbid"}, {"never"}},
           Case{ir::Variable::cache_dir, {"", "anything"}, {}},
       }) {
    const ir::VariableInfo& info = ir::info(variable);
    CAPTURE(info.name);
    for (const char* value : good) {
      setenv(info.name, value, 1);
      CHECK_NOTHROW(ir::check_environment());
    }
    for (const char* value : bad) {
      CAPTURE(value);
      setenv(info.name, value, 1);
      CHECK_THROWS_WITH_AS(ir::check_environment(),
                           doctest::Contains((std::string(info.name) + " is '" + value +
                                              "'; valid values: " + info.values)
                                                 .c_str()),
                           ValueError);
    }
    unsetenv(info.name);
  }
}

TEST_CASE("a value reads as what its form is") {
  setenv("HEDDLE_CACHE_SIZE", "2K", 1);
  setenv("HEDDLE_NUM_THREADS", "7", 1);
  setenv("HEDDLE_GRAPHS", "0", 1);
  setenv("HEDDLE_DUMP", "ir,,plan", 1);
  CHECK(ir::bytes(ir::Variable::cache_size) == 2048);
  CHECK(ir::number(ir::Variable::num_threads) == 7);
  CHECK_FALSE(ir::flag(ir::Variable::graphs, true));
  CHECK(ir::names(ir::Variable::dump) == std::vector<std::string>{"ir", "plan"});
  setenv("HEDDLE_GRAPHS", "no", 1);
  CHECK_THROWS_AS(ir::flag(ir::Variable::graphs, true), ValueError);
  for (const char* name :
       {"HEDDLE_CACHE_SIZE", "HEDDLE_NUM_THREADS", "HEDDLE_GRAPHS", "HEDDLE_DUMP"})
    unsetenv(name);
  CHECK_FALSE(ir::bytes(ir::Variable::cache_size));
  CHECK_FALSE(ir::number(ir::Variable::num_threads));
  CHECK(ir::flag(ir::Variable::graphs, true));
  CHECK_FALSE(ir::flag(ir::Variable::graphs, false));
}

TEST_CASE("a name that is nearly one of ours is an error that names that; others are not ours") {
  for (const char* wrong : {"HEDDLE_CACHE_DRI", "HEDDLE_CACH_DIR", "HEDDLE_NOCOMPILE"}) {
    CAPTURE(wrong);
    setenv(wrong, "1", 1);
    CHECK_THROWS_WITH_AS(ir::check_environment(), doctest::Contains("there is no such variable"),
                         ValueError);
    unsetenv(wrong);
  }
  setenv("HEDDLE_OF_SOMEBODY_ELSE", "1", 1);
  CHECK_NOTHROW(ir::check_environment());
  unsetenv("HEDDLE_OF_SOMEBODY_ELSE");
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
