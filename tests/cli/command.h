#pragma once

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

namespace heddle::test {

/// A folder of its own that goes away with it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "heddle-cli-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("no folder for the test: " + name);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name = "") const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path(name);
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path path_;
};

struct CommandResult {
  int status = -1;
  std::string out, error;
};

/// What is run, and what runs it.
struct Starting {
  std::string before = {}, command = HEDDLE_COMMAND;
};

/// Runs `heddle` with words as its arguments and variables ("NAME=value") in its environment, its
/// cache in the folder.
inline CommandResult heddle_command(const Folder& folder, const std::vector<std::string>& words,
                                    const std::vector<std::string>& variables = {},
                                    const Starting& starting = {}) {
  std::string command = starting.before + " env HEDDLE_CACHE_DIR='" + folder.path("cache") + "'";
  for (const std::string& variable : variables) command += " '" + variable + "'";
  command += " '" + starting.command + "'";
  for (const std::string& word : words) command += " '" + word + "'";
  command += " >'" + folder.path("stdout") + "' 2>'" + folder.path("stderr") + "' </dev/null";
  const int status = std::system(command.c_str());
  CommandResult result;
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.out = folder.read("stdout");
  result.error = folder.read("stderr");
  return result;
}

inline constexpr const char* softmax =
    "func @softmax(%0: f32[n,64]) -> f32[n,64] {\n"
    "  %1 = max %0 axes=[1] keepdims : f32[n,1]\n"
    "  %2 = subtract %0, %1 : f32[n,64]\n"
    "  %3 = exp %2 : f32[n,64]\n"
    "  %4 = sum %3 axes=[1] keepdims : f32[n,1]\n"
    "  %5 = divide %3, %4 : f32[n,64]\n"
    "  return %5\n"
    "}\n";

inline constexpr const char* scaled =
    "func @scaled(%0: f64[2,3], %1: scalar f64) -> (f64[2,3], f64[]) {\n"
    "  %2 = multiply %0, %1 : f64[2,3]\n"
    "  %3 = sum %2 axes=[0,1] : f64[]\n"
    "  return %2, %3\n"
    "}\n";

}  // namespace heddle::test
