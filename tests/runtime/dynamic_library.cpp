#include "runtime/base/dynamic_library.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "runtime/base/fault.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using runtime::DynamicLibrary;
using runtime::LibraryReport;
using runtime::LibraryRequest;

namespace {

LibraryRequest missing_library() {
  return {.title = "Nothing",
          .names = {"libheddle-nothing.so.7", "libheddle-nothing.so.6"},
          .packages = {"nothing_runtime"},
          .variable = ir::Variable::curand};
}

std::size_t position(const LibraryReport& report, const std::string& part) {
  for (std::size_t i = 0; i < report.attempts.size(); ++i) {
    if (report.attempts[i].place.find(part) != std::string::npos) return i;
  }
  return report.attempts.size();
}

}  // namespace

TEST_CASE("a library of the system opens, and its symbols and path are found") {
  LibraryReport report;
  const auto library =
      DynamicLibrary::open({.title = "libm", .names = {"libm.so.6"}, .packages = {}}, &report);
  REQUIRE(library);
  CHECK(library->symbol("expf") != nullptr);
  CHECK(library->symbol("heddle_no_such_symbol") == nullptr);
  CHECK(std::filesystem::exists(library->path()));
  CHECK(report.path == library->path());
  CHECK(library->build_id().size() == 40);
}

TEST_CASE("a missing library's text lists every place tried, in the documented order") {
  const auto result =
      test::run_child("child: report of a missing library",
                      {"HEDDLE_CUDA_PATH=/nowhere/heddle", "CUDA_PATH=/nowhere/path",
                       "CUDA_HOME=/nowhere/home", "VIRTUAL_ENV=/nowhere/venv",
                       "CONDA_PREFIX=/nowhere/conda", "HEDDLE_CURAND=/nowhere/file.so"});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: report of a missing library" * doctest::skip()) {
  runtime::add_library_folder("/nowhere/added");
  LibraryReport report;
  CHECK_FALSE(DynamicLibrary::open(missing_library(), &report));
  const char* order[] = {"/nowhere/file.so",
                         "/nowhere/heddle/lib64",
                         "/nowhere/path/lib64",
                         "/nowhere/home/lib64",
                         "/nowhere/added",
                         "/nowhere/added/nvidia/cu13/lib",
                         "/nowhere/added/nvidia/cu12/lib",
                         "/nowhere/added/nvidia/nothing_runtime/lib",
                         "/nowhere/conda/lib",
                         "the system's search path, libheddle-nothing.so.7",
                         "the system's search path, libheddle-nothing.so.6"};
  std::size_t before = 0;
  for (const char* place : order) {
    INFO(place);
    const std::size_t at = position(report, place);
    CHECK(at < report.attempts.size());
    CHECK(at >= before);
    before = at;
    CHECK(report.text().find(place) != std::string::npos);
  }
  const std::string own = runtime::own_library_folder();
  CHECK(std::filesystem::is_directory(own));
  CHECK(position(report, own) < position(report, "/nowhere/added"));
  CHECK(report.text().find("libheddle-nothing.so.7") != std::string::npos);
  CHECK(runtime::library_reports().back().path.empty());
}

TEST_CASE(
    "pip's layout is searched, and a file that is no library is passed over with its reason") {
  const runtime::TemporaryFolder folder;
  namespace fs = std::filesystem;
  const fs::path lib = fs::path(folder.path()) / "nvidia" / "cu13" / "lib";
  fs::create_directories(lib);
  test::write_text(lib / "libheddle-nothing.so.7", "not a library");
  const auto libm = DynamicLibrary::open({.title = "libm", .names = {"libm.so.6"}, .packages = {}});
  REQUIRE(libm);
  fs::create_symlink(libm->path(), lib / "libheddle-nothing.so.6");
  runtime::add_library_folder(folder.path());
  LibraryReport report;
  const auto library = DynamicLibrary::open(missing_library(), &report);
  REQUIRE(library);
  const std::size_t bad = position(report, (lib / "libheddle-nothing.so.7").string());
  REQUIRE(bad < report.attempts.size());
  CHECK(report.attempts[bad].outcome != "opened");
  CHECK(library->symbol("expf") != nullptr);
}

TEST_CASE("the environments of pip and conda are searched, the newest Python's packages first") {
  const runtime::TemporaryFolder folder;
  namespace fs = std::filesystem;
  const auto libm = DynamicLibrary::open({.title = "libm", .names = {"libm.so.6"}, .packages = {}});
  REQUIRE(libm);
  const auto install = [&](const std::string& place) {
    const fs::path lib = fs::path(folder.path()) / place;
    fs::create_directories(lib);
    fs::create_symlink(libm->path(), lib / "libheddle-nothing.so.7");
    return lib.string();
  };
  const std::string conda = install("conda/lib"),
                    older = install("venv/lib/python3.9/site-packages/nvidia/cu13/lib"),
                    newer = install("venv/lib/python3.12/site-packages/nvidia/nothing_runtime/lib");
  for (const auto& [wanted, venv] : {std::pair(newer, "venv"), std::pair(conda, "nowhere")}) {
    const auto result = test::run_child(
        "child: where a library is found",
        {"-uHEDDLE_CUDA_PATH", "-uCUDA_PATH", "-uCUDA_HOME", "-uHEDDLE_CURAND",
         "VIRTUAL_ENV=" + folder.path() + "/" + venv, "CONDA_PREFIX=" + folder.path() + "/conda",
         "HEDDLE_TEST_WANTED=" + wanted});
    CHECK_MESSAGE(result.status == 0, result.output);
  }
}

TEST_CASE("child: where a library is found" * doctest::skip()) {
  LibraryReport report;
  REQUIRE(DynamicLibrary::open(missing_library(), &report));
  CHECK(report.attempts.back().outcome == "opened");
  CHECK(report.attempts.back().place ==
        std::string(std::getenv("HEDDLE_TEST_WANTED")) + "/libheddle-nothing.so.7");
}

TEST_CASE("a load that fails is reported and can be tried again") {
  const LibraryRequest request{
      .title = "libm", .names = {"libm.so.6"}, .packages = {}, .system_only = true};
  {
    const runtime::fault::Watch watch(runtime::fault::Kind::load, 0);
    CHECK_FALSE(DynamicLibrary::open(request));
    CHECK(watch.fired());
  }
  CHECK(DynamicLibrary::open(request));
}
