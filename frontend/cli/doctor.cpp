#include <filesystem>
#include <memory>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "heddle/error.h"

#include "codegen/embedded.h"
#include "frontend/cli/command.h"
#include "frontend/npz.h"
#include "runtime/blas.h"
#include "runtime/bound_library.h"
#include "runtime/cache/store.h"
#include "runtime/curand.h"
#include "runtime/host_compiler.h"
#include "runtime/nvrtc.h"
#include "runtime/vector_sort.h"

namespace heddle::cli {

namespace {

/// One line of the report, and what to do where something is missing.
struct Finding {
  std::string name;
  bool good = true;
  std::string text;
  std::string advice;
  nlohmann::json facts = nlohmann::json::object();
};

Finding missing(std::string name, std::string why, std::string advice) {
  Finding finding{std::move(name), false, std::move(why), std::move(advice), {}};
  while (finding.text.ends_with('\n')) finding.text.pop_back();
  return finding;
}

double gigabytes(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

/// The built-in row's name where the target is one; that is what --arch wants on other machines.
std::string name_of_target(const ir::Target& target) {
  for (const std::string_view row : ir::built_in_targets()) {
    if (ir::parse_target(row) == target) return std::string(row);
  }
  return to_string(target);
}

Finding device_finding(const std::string& name, runtime::Device device) {
  try {
    const runtime::DeviceFacts& facts = runtime::facts_of(device);
    const std::string target = name_of_target(runtime::target_of(device));
    Finding finding;
    finding.name = name;
    finding.text = fmt::format("{}, {:.0f} GiB, {} {}, target {}", facts.name,
                               gigabytes(facts.total_bytes), facts.multiprocessors,
                               device.is_cuda() ? "multiprocessors" : "threads", target);
    finding.facts = {{"name", facts.name},
                     {"bytes", facts.total_bytes},
                     {"target", target},
                     {"target_text", to_string(runtime::target_of(device))}};
    return finding;
  } catch (const Error& error) {
    return missing(name, error.what(), "");
  }
}

std::vector<Finding> gpu_findings() {
  std::vector<Finding> findings;
  const int count = runtime::device_count(runtime::DeviceKind::cuda);
  if (!runtime::cuda::available() || count == 0) {
    const std::string& reason = runtime::cuda::unavailable_reason();
    findings.push_back(
        missing("GPU", reason.empty() ? "the driver sees none" : reason,
                "Programs run on the CPU. For a GPU install NVIDIA's driver, and see that "
                "CUDA_VISIBLE_DEVICES does not hide it; to compile for one elsewhere, use "
                "'heddle warm'."));
    return findings;
  }
  const int version = runtime::cuda::driver_version();
  Finding driver;
  driver.name = "driver";
  driver.text = fmt::format("serves CUDA {}.{}", version / 1000, version % 1000 / 10);
  driver.facts = {{"cuda", version}};
  for (const runtime::LibraryReport& report : runtime::library_reports()) {
    if (!report.title.starts_with("the CUDA driver")) continue;
    driver.text += ", at " + report.path;
    driver.facts["path"] = report.path;
  }
  findings.push_back(std::move(driver));
  for (int i = 0; i < count; ++i) {
    findings.push_back(device_finding(fmt::format("GPU {}", i), {runtime::DeviceKind::cuda, i}));
  }
  return findings;
}

Finding nvrtc_finding() {
  if (!runtime::nvrtc::available()) {
    return missing(
        "NVRTC", runtime::nvrtc::unavailable_reason(),
        "CUDA programs run from the cache only. Install it: pip install nvidia-cuda-nvrtc, or "
        "set HEDDLE_NVRTC to its file.");
  }
  Finding finding;
  finding.name = "NVRTC";
  const std::vector<int>& architectures = runtime::nvrtc::supported_architectures();
  finding.text = fmt::format("{}, for sm_{}, at {}", runtime::nvrtc::version(),
                             fmt::join(architectures, " sm_"), runtime::nvrtc::path());
  finding.facts = {{"version", runtime::nvrtc::version()},
                   {"path", runtime::nvrtc::path()},
                   {"architectures", architectures}};
  return finding;
}

Finding compiler_finding() {
  const runtime::host::Compiler* compiler = runtime::host::find_compiler();
  if (compiler == nullptr) {
    return missing(
        "C++ compiler", runtime::host::unavailable_reason(),
        "Programs on the CPU run from the cache, or are interpreted, which is slow. Install g++, "
        "or set HEDDLE_CXX to a compiler.");
  }
  Finding finding;
  finding.name = "C++ compiler";
  finding.text = fmt::format("{} ({})", compiler->path, compiler->version);
  finding.facts = {{"path", compiler->path}, {"version", compiler->version}};
  return finding;
}

/// `reason` is asked so that the library has been looked for.
Finding library_finding(const std::string& name, const std::string& reason, const char* use) {
  for (const runtime::BoundLibrary& library : runtime::bound_libraries()) {
    if (library.title != name) continue;
    Finding finding;
    if (!library.reason.empty()) finding = missing(name, library.reason, use);
    finding.name = name;
    if (finding.good) {
      finding.text =
          library.version.empty() ? library.path : library.version + ", at " + library.path;
    }
    finding.facts = {{"path", library.path}, {"version", library.version}};
    return finding;
  }
  return missing(name, reason.empty() ? "not looked for" : "not looked for without a GPU", use);
}

/// What Heddle itself was built with.
Finding built_in_finding(const char* name, bool there, const char* advice) {
  if (!there) return missing(name, "Heddle was built without it", advice);
  Finding finding;
  finding.name = name;
  finding.text = "built in";
  return finding;
}

/// The nearest folder above that is there decides whether the directory can be made.
bool can_be_written(std::filesystem::path path) {
  while (!std::filesystem::exists(path) && path.has_parent_path() && path != path.parent_path()) {
    path = path.parent_path();
  }
  return access(path.c_str(), W_OK) == 0;
}

Finding cache_finding() {
  const runtime::cache::Store& store = runtime::cache::Store::global();
  const runtime::cache::StoreOptions& options = store.options();
  if (!options.enabled) {
    return missing("cache", "off (HEDDLE_CACHE=0)",
                   "Every process compiles anew. Unset HEDDLE_CACHE.");
  }
  if (options.directory.empty()) {
    return missing("cache", "no directory is known",
                   "Set HEDDLE_CACHE_DIR, XDG_CACHE_HOME or HOME.");
  }
  std::uint64_t bytes = 0;
  const std::vector<runtime::cache::ListedEntry> entries = store.list();
  for (const auto& entry : entries) bytes += entry.bytes;
  const std::string state = fmt::format("{}: {} entries, {:.1f} of {:.0f} MiB", options.directory,
                                        entries.size(), static_cast<double>(bytes) / (1 << 20),
                                        static_cast<double>(options.size_limit) / (1 << 20));
  Finding finding;
  if (!can_be_written(options.directory)) {
    finding = missing("cache", state + ", and it cannot be written",
                      "What is there is used, and nothing is added. Set HEDDLE_CACHE_DIR to a "
                      "directory of your own.");
  }
  finding.name = "cache";
  if (finding.good) finding.text = state;
  finding.facts = {{"directory", options.directory},
                   {"entries", entries.size()},
                   {"bytes", bytes},
                   {"limit", options.size_limit},
                   {"read_only_directory", options.read_only_directory}};
  return finding;
}

Finding default_device_finding() {
  Finding finding;
  finding.name = "default device";
  try {
    finding.text = runtime::to_string(runtime::current_device());
    finding.facts = {{"device", finding.text}};
  } catch (const Error& error) {
    return missing("default device", error.what(), "Unset HEDDLE_DEVICE, or set it to cpu.");
  }
  return finding;
}

std::vector<Finding> examine() {
  std::vector<Finding> findings{
      device_finding("CPU", runtime::Device{}), compiler_finding(),
      library_finding("OpenBLAS", runtime::blas_unavailable_reason(runtime::Device{}),
                      "matmul on the CPU needs it."),
      built_in_finding("Highway", runtime::sorts_by_vectors(),
                       "The CPU sorts by half as fast code. Build with libhwy-dev."),
      built_in_finding("libzip", frontend::reads_npz(),
                       ".npz files are a FileError. Build with libzip-dev.")};
  for (Finding& finding : gpu_findings()) findings.push_back(std::move(finding));
  findings.push_back(nvrtc_finding());
  const runtime::Device gpu{runtime::DeviceKind::cuda, 0};
  findings.push_back(library_finding("cuBLAS", runtime::blas_unavailable_reason(gpu),
                                     "matmul on a GPU needs it."));
  findings.push_back(
      library_finding("cuBLASLt", runtime::epilogues_unavailable_reason(),
                      "matmul with what follows it in one step needs it, else it takes two."));
  findings.push_back(library_finding("cuRAND", runtime::curand_unavailable_reason(),
                                     "random::bulk needs it, and random::Generator does not."));
  findings.push_back(cache_finding());
  findings.push_back(default_device_finding());
  return findings;
}

std::string indented(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    result += letter;
    if (letter == '\n') result += "                      ";
  }
  return result;
}

int doctor(bool as_json) {
  const std::vector<Finding> findings = examine();
  if (as_json) {
    nlohmann::json json{{"version", HEDDLE_VERSION},
                        {"fingerprint", codegen::source_fingerprint()}};
    for (const Finding& finding : findings) {
      nlohmann::json entry{{"name", finding.name}, {"found", finding.good}, {"text", finding.text}};
      if (!finding.advice.empty()) entry["advice"] = finding.advice;
      if (!finding.facts.empty()) entry["facts"] = finding.facts;
      json["findings"].push_back(std::move(entry));
    }
    for (const runtime::LibraryReport& report : runtime::library_reports()) {
      nlohmann::json places = nlohmann::json::array();
      for (const auto& [place, outcome] : report.attempts)
        places.push_back({{"place", place}, {"outcome", outcome}});
      json["searches"].push_back(
          {{"library", report.title}, {"path", report.path}, {"places", std::move(places)}});
    }
    fmt::print("{}\n", json.dump(2));
    return 0;
  }
  fmt::print("heddle {} ({:.12})\n", HEDDLE_VERSION, codegen::source_fingerprint());
  for (const Finding& finding : findings) {
    fmt::print("  {} {:<17} {}\n", finding.good ? "ok" : "--", finding.name,
               indented(finding.text));
    if (!finding.advice.empty()) fmt::print("{:<22}{}\n", "", finding.advice);
  }
  return 0;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  const auto as_json = std::make_shared<bool>(false);
  CLI::App* verb = app.add_subcommand(
      "doctor", "Say what Heddle finds on this machine, and what to do about what it does not");
  verb->add_flag("--json", *as_json, "Report as JSON");
  verb->callback([&action, as_json] { action = [as_json] { return doctor(*as_json); }; });
}

}  // namespace heddle::cli
