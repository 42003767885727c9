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

// Only a backend knows which backend it is. Other code asks for a capability or a number.

namespace heddle::test {
namespace {

namespace fs = std::filesystem;

const fs::path root = HEDDLE_SOURCE_FOLDER;

/// The backends, and their printers.
constexpr std::array<std::string_view, 5> backends = {
    "runtime/cuda/", "runtime/host/", "codegen/cuda/", "codegen/host/", "codegen/device/"};
/// Tables of all backends: the texts of targets and what they can do, the order in which programs
/// prefer backends, and their names in DLPack.
constexpr std::array<std::string_view, 4> tables = {"ir/types/target.", "ir/types/capabilities.cpp",
                                                    "runtime/device/backend.cpp",
                                                    "frontend/exchange/device_names.cpp"};
/// Includes of a backend's own headers elsewhere: tools that listen by NVTX, and the public
/// generators that are cuRAND's, and communicators, which are NCCL's.
constexpr std::array<std::string_view, 3> faces = {"runtime/profile/kernel_history.cpp",
                                                   "frontend/random/bulk_random.cpp",
                                                   "frontend/distributed/communicator.cpp"};

template <std::size_t count>
bool begins_with_any(std::string_view path, const std::array<std::string_view, count>& starts) {
  return std::ranges::any_of(starts,
                             [&](std::string_view start) { return path.starts_with(start); });
}

/// Where a file asks which backend it has.
std::vector<std::string> questions(const std::string& path, const std::string& text) {
  static const std::regex question(
      R"(\bis_cuda\b|\bDeviceKind::\w+|\bTargetKind::\w+|\bdynamic_cast\b|\bcuda::)");
  static const std::regex include(R"re(#include "runtime/(?:cuda|host)/[^"]*")re");
  if (begins_with_any(path, backends)) return {};
  std::vector<std::string> found;
  const auto add = [&](const std::regex& pattern) {
    for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
      found.push_back(
          fmt::format("{} has {}: ask runtime/device/backend.h for a capability", path, it->str()));
  };
  if (!begins_with_any(path, tables)) add(question);
  if (!begins_with_any(path, faces)) add(include);
  return found;
}

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_CASE("nobody asks which backend it has") {
  int files = 0;
  for (const char* stage : {"ir", "passes", "codegen", "runtime", "frontend"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / stage)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp" && extension != ".def") continue;
      ++files;
      const std::string path = fs::relative(entry.path(), root).generic_string();
      for (const std::string& question : questions(path, read(entry.path()))) FAIL_CHECK(question);
    }
  }
  CHECK(files > 100);
}

TEST_CASE("a question which backend it is, is found") {
  const std::string path = "runtime/launch/a.cpp";
  for (const char* text :
       {"if (device.is_cuda()) f();", "device.kind == DeviceKind::cpu", "runtime::DeviceKind::cuda",
        "target.kind == ir::TargetKind::host", "dynamic_cast<const CudaBackend*>(&backend)",
        "cuda::driver().init(0);", "#include \"runtime/cuda/driver.h\"",
        "#include \"runtime/host/module.h\""}) {
    CHECK_MESSAGE(questions(path, text).size() == 1, text);
    CHECK(questions("runtime/cuda/a.cpp", text).empty());
    CHECK(questions("passes/plan/a.cpp", text).size() == 1);
  }
  CHECK(questions(path, "if (capabilities_of(device).asynchronous) wait();").empty());
  CHECK(questions(path, "backend_of(device.kind).load(image, 0);").empty());
  CHECK(questions("runtime/device/backend.cpp", "DeviceKind::cuda").empty());
}

TEST_CASE("every exception of the rule is needed") {
  for (std::string_view path : tables)
    CHECK(fs::exists(root / (path.ends_with('.') ? std::string(path) + "cpp" : std::string(path))));
  for (std::string_view path : faces) CHECK(fs::exists(root / path));
}

}  // namespace
}  // namespace heddle::test
