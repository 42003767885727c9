// Files that the library writes for people, and names that it keeps.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "ir/base/dump.h"
#include "ir/base/kept_text.h"
#include "ir/base/new_file.h"

using namespace heddle;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("heddle_ir_files_" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a file is made anew: what a link or another name leads to stays as it is") {
  const Folder folder;
  const fs::path target = folder.path / "target", path = folder.path / "made" / "file";
  std::ofstream(target) << "precious";
  CHECK(ir::write_new_file(path, "text") == 0);  // the folder is made
  CHECK(read(path) == "text");
  for (const bool symbolic : {true, false}) {
    fs::remove(path);
    symbolic ? fs::create_symlink(target, path) : fs::create_hard_link(target, path);
    CHECK(ir::write_new_file(path, "new") == 0);
    CHECK(read(path) == "new");
    CHECK_FALSE(fs::is_symlink(path));
    CHECK(read(target) == "precious");
  }
  fs::create_directory(folder.path / "folder");
  CHECK(ir::write_new_file(folder.path / "folder", "x") != 0);
  CHECK(ir::write_new_file(target / "below", "x") != 0);
}

TEST_CASE("dumps go to a folder that is made, one file each, and follow no link") {
  const Folder folder;
  const fs::path dumps = folder.path / "a" / "dumps", target = folder.path / "target";
  setenv("HEDDLE_DUMP", "plan", 1);
  setenv("HEDDLE_DUMP_DIR", dumps.c_str(), 1);
  ir::dump("ir", "not wanted", [] { return std::string("no"); });
  CHECK_FALSE(fs::exists(dumps));
  ir::dump("plan", "../a title", [] { return std::string("text"); });
  REQUIRE(std::distance(fs::directory_iterator(dumps), {}) == 1);
  const std::string name = fs::directory_iterator(dumps)->path().filename();
  CHECK(name.ends_with("-plan-.._a_title.txt"));
  CHECK(read(dumps / name) == "text");
  // Whoever knows what the next file is called cannot lead it elsewhere.
  std::ofstream(target) << "precious";
  const int number = std::stoi(name) + 1;
  const std::string next = std::string(4 - std::to_string(number).size(), '0') +
                           std::to_string(number) + "-plan-next.txt";
  fs::create_symlink(target, dumps / next);
  ir::dump("plan", "next", [] { return std::string("text"); });
  CHECK(read(dumps / next) == "text");
  CHECK(read(target) == "precious");
  setenv("HEDDLE_DUMP_DIR", (target / "below").c_str(), 1);
  CHECK_THROWS_AS(ir::dump("plan", "x", [] { return std::string(); }), FileError);
  unsetenv("HEDDLE_DUMP");
  unsetenv("HEDDLE_DUMP_DIR");
}

TEST_CASE("a kept name outlives what it was copied from, and follows what is there") {
  std::string name = "first.cpp";
  const char* const kept = ir::interned_file_name(name.c_str());
  CHECK(kept != name.c_str());
  CHECK(ir::interned_file_name(name.c_str()) == kept);
  CHECK(ir::kept_text("first.cpp") == kept);
  // Another library lies where that one was.
  name.replace(0, 5, "other");
  CHECK(std::string(ir::interned_file_name(name.c_str())) == "other.cpp");
  CHECK(std::string(kept) == "first.cpp");
}
