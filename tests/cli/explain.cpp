#include <algorithm>
#include <filesystem>
#include <set>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

using namespace heddle::test;
using Json = nlohmann::json;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Json explained(const Folder& folder, std::vector<std::string> words,
               const std::vector<std::string>& variables = {}) {
  words.insert(words.begin(), "explain");
  words.emplace_back("--json");
  const CommandResult result = heddle_command(folder, words, variables);
  CHECK(result.error.empty());
  REQUIRE(result.status == 0);
  return Json::parse(result.out);
}

std::set<std::string> files_below(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) names.insert(entry.path().filename().string());
  }
  return names;
}

constexpr const char* centred =
    "func @centred(%0: f32[4096,4096]) -> f32[4096,4096] {\n"
    "  %1 = sum %0 axes=[0,1] : f32[]\n"
    "  %2 = subtract %0, %1 : f32[4096,4096]\n"
    "  return %2\n"
    "}\n";

}  // namespace

TEST_CASE("explain's forms tell of one program") {
  const Folder folder;
  const std::string program = folder.write("softmax.hd", softmax);
  const Json json = explained(folder, {program, "--target", "sm_90"});
  const std::string name = json["kernels"][0]["name"];
  CHECK(json["program"] == "softmax");
  CHECK(json["bytes_moved"]["text"] == "512*n");
  const Json& resources = json["kernels"][0]["resources"];
  CHECK(resources["registers"] > 8);
  CHECK(resources["local_bytes"] == 0);

  const CommandResult text = heddle_command(folder, {"explain", program, "--target", "sm_90"});
  CHECK(has(text.out, name));
  const CommandResult dot =
      heddle_command(folder, {"explain", program, "--target", "sm_90", "--dot"});
  CHECK(dot.out.starts_with("digraph \"softmax\" {"));
  CHECK(has(dot.out, name));
  const CommandResult page = heddle_command(
      folder, {"explain", program, "--target", "sm_90", "--html", folder.path("page.html")});
  CHECK(page.out == folder.path("page.html") + "\n");
  const std::string html = folder.read("page.html");
  CHECK(html.starts_with("<!doctype html>"));
  CHECK(has(html, name));
  // The page of a program is the same each time.
  heddle_command(folder,
                 {"explain", program, "--target", "sm_90", "--html", folder.path("again.html")});
  CHECK(folder.read("again.html") == html);
}

TEST_CASE(
    "a kernel has one name in explain, its text, dumps and modules, and its module one entry") {
  const Folder folder;
  const std::string program = folder.write("centred.hd", centred);
  for (const std::string& target : {std::string("sm_90"), std::string("x86-64-v3")}) {
    CAPTURE(target);
    const Json json = explained(folder, {program, "--target", target});
    REQUIRE_FALSE(json["kernels"].empty());
    const std::string dumps = folder.path("dumps-" + target);
    std::filesystem::create_directory(dumps);
    const CommandResult source =
        heddle_command(folder, {"cuda", program, "--target", target},
                       {"HEDDLE_DUMP=cuda,host,plan", "HEDDLE_DUMP_DIR=" + dumps});
    const std::set<std::string> dumped = files_below(dumps),
                                cached = files_below(folder.path("cache"));
    for (const Json& kernel : json["kernels"]) {
      const std::string name = kernel["name"];
      CHECK(has(source.out, "// " + name + "\n" + kernel["source"].get<std::string>()));
      CHECK(has(kernel["source"], name + "("));
      CHECK(std::ranges::count_if(dumped,
                                  [&](const std::string& file) { return has(file, name); }) == 2);
      const std::string module = kernel["module"];
      CHECK(std::ranges::count_if(
                cached, [&](const std::string& file) { return file.starts_with(module); }) == 1);
      CHECK(heddle_command(folder, {"cache", "show", module}).status == 0);
    }
    // A warm cache of the program has the same modules: nothing is left to compile.
    const std::size_t before = cached.size();
    CHECK(
        heddle_command(folder, {"warm", program, "--arch", target, "--cache", folder.path("cache")})
            .status == 0);
    CHECK(files_below(folder.path("cache")).size() > before);
    const std::set<std::string> after = files_below(folder.path("cache"));
    CHECK(std::ranges::includes(after, cached));
  }
}

TEST_CASE("explain without a compiler says so in words") {
  const Folder folder;
  const std::string program = folder.write("softmax.hd", softmax);
  // A library that is no NVRTC keeps the one that may be here from being found.
  const std::pair<std::string, std::string> reasons[] = {
      {"HEDDLE_NVRTC=libm.so.6", "kernels cannot be compiled for a GPU"},
      {"HEDDLE_NO_COMPILE=1", "HEDDLE_NO_COMPILE=1"}};
  for (const auto& [variable, reason] : reasons) {
    const Json json = explained(folder, {program, "--target", "sm_90"}, {variable});
    CHECK(json["kernels"][0]["resources"].is_null());
    CHECK(json["kernels"][0]["module"] == "");
    CHECK(has(json["no_resources"], reason));
    CHECK_FALSE(json["kernels"][0]["source"].get<std::string>().empty());
  }
}

TEST_CASE("explain --run adds times, a ceiling and the symbols' values") {
  const Folder folder;
  const std::string program = folder.write("softmax.hd", softmax);
  const Json json =
      explained(folder, {program, "--run", "--random", "1", "--size", "n=2000", "--repeat", "3"},
                {"HEDDLE_DEVICE=cpu", "HEDDLE_CXX_LEVEL=1"});
  CHECK(json["symbols"]["n"] == 2000);
  CHECK(json["bytes_moved"]["value"] == 512 * 2000);
  const Json& run = json["run"];
  CHECK(run["runs"] == 3);
  CHECK(run["ceiling"]["bytes_per_second"] > 1e8);
  double sum = 0;
  for (const Json& step : json["steps"]) sum += step["microseconds"].get<double>();
  CHECK(sum > 0);
  const double rate = json["steps"][0]["bytes"]["value"].get<double>() /
                      json["steps"][0]["microseconds"].get<double>() * 1e6;
  CHECK(json["steps"][0]["share_of_ceiling"].get<double>() ==
        doctest::Approx(rate / run["ceiling"]["bytes_per_second"].get<double>()));
  // The program's own passes hold for other extents too: only its numbers are of this run.
  CHECK(json["bytes_moved"]["text"] == "512*n");
}

TEST_CASE("a wrong use of explain is one line") {
  const Folder folder;
  const std::string program = folder.write("softmax.hd", softmax);
  struct Mistake {
    std::vector<std::string> words;
    int status;
    std::string message;
  };
  const Mistake mistakes[] = {
      {{"explain", program, "--random", "1"}, 1, "inputs are only used by explain --run"},
      {{"explain", program, "--target", "sm_42"}, 1, "'sm_42' is not a target"},
      {{"explain", program, "--html", folder.path("no/page.html")}, 1, "cannot be written"},
      {{"explain", program, "--json", "--dot"}, 2, "excludes"},
      {{"explain", program, "--run", "--target", "sm_90"}, 2, "excludes"},
  };
  for (const auto& [words, status, message] : mistakes) {
    CAPTURE(message);
    const CommandResult result = heddle_command(folder, words);
    CHECK(result.status == status);
    CHECK(has(result.error, message));
    CHECK(std::count(result.error.begin(), result.error.end(), '\n') == 1);
  }
}
