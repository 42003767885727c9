#include <filesystem>
#include <memory>
#include <ranges>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "heddle/error.h"

#include "codegen/common/embedded.h"
#include "frontend/cli/command.h"
#include "frontend/io/npz.h"
#include "runtime/base/dynamic_library.h"
#include "runtime/cache/store.h"
#include "runtime/device/backend.h"
#include "runtime/device/finding.h"

namespace heddle::cli {

namespace {

using runtime::Finding;
using runtime::missing;

/// The directory can be created if the nearest existing parent folder is writable.
bool can_be_written(std::filesystem::path path) {
  while (!std::filesystem::exists(path) && path.has_parent_path() && path != path.parent_path()) {
    path = path.parent_path();
  }
  return access(path.c_str(), W_OK) == 0;
}

Finding cache_finding() try {
  const runtime::cache::Store& store = runtime::cache::Store::global();
  const runtime::cache::StoreOptions& options = store.options();
  if (!options.enabled) {
    return missing("cache", "off (HEDDLE_CACHE=0)",
                   "Every process compiles again. Unset HEDDLE_CACHE.");
  }
  if (options.directory.empty()) {
    return missing("cache", "no cache directory", "Set HEDDLE_CACHE_DIR, XDG_CACHE_HOME or HOME.");
  }
  std::uint64_t bytes = 0;
  const std::vector<runtime::cache::ListedEntry> entries = store.list();
  for (const auto& entry : entries) bytes += entry.bytes;
  const std::string state = fmt::format(
      "{}: {} entries, {:.1f} of {:.0f} MiB{}", options.directory, entries.size(),
      static_cast<double>(bytes) / (1 << 20), static_cast<double>(options.size_limit) / (1 << 20),
      options.signer != nullptr ? ", signed by HEDDLE_CACHE_KEY" : "");
  Finding finding;
  if (!can_be_written(options.directory)) {
    finding = missing("cache", state + ", not writable",
                      "Existing entries are used, but none are added. Set HEDDLE_CACHE_DIR to a "
                      "directory of your own.");
  }
  finding.name = "cache";
  if (finding.good) finding.text = state;
  finding.facts = {{"directory", options.directory},
                   {"entries", entries.size()},
                   {"bytes", bytes},
                   {"limit", options.size_limit},
                   {"read_only_directory", options.read_only_directory},
                   {"signed", options.signer != nullptr}};
  return finding;
} catch (const TrustError& error) {
  return missing("cache", error.what(),
                 "The cache is neither read nor written. Correct or unset HEDDLE_CACHE_KEY.");
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

Finding libzip_finding() {
  const std::string reason = frontend::npz_unavailable_reason();
  if (!reason.empty()) return missing("libzip", reason, ".npz files raise a FileError without it.");
  return runtime::library_finding("libzip", reason, "");
}

std::vector<Finding> examine() {
  std::vector<Finding> findings;
  // The backend that always exists comes first, followed by the library that reads files.
  for (const runtime::DeviceKind kind : runtime::preferred_kinds | std::views::reverse) {
    const bool first = findings.empty();
    for (Finding& finding : runtime::backend_of(kind).examine())
      findings.push_back(std::move(finding));
    if (!first) continue;
    findings.push_back(libzip_finding());
  }
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
      "doctor", "Report what Heddle finds on this machine, and how to fix what is missing");
  verb->add_flag("--json", *as_json, "Print JSON");
  verb->callback([&action, as_json] { action = [as_json] { return doctor(*as_json); }; });
}

}  // namespace heddle::cli
