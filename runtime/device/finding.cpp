#include "runtime/device/finding.h"

#include <fmt/format.h>

#include "heddle/error.h"

#include "runtime/base/bound_library.h"

namespace heddle::runtime {

namespace {

double gigabytes(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

/// The name of the equal row of the built-in table, if any: the value to pass as --arch on other
/// machines.
std::string name_of_target(const ir::Target& target) {
  for (const std::string_view row : ir::built_in_targets()) {
    if (ir::parse_target(row) == target) return std::string(row);
  }
  return to_string(target);
}

}  // namespace

Finding missing(std::string name, std::string why, std::string advice) {
  Finding finding{std::move(name), false, std::move(why), std::move(advice), {}};
  while (finding.text.ends_with('\n')) finding.text.pop_back();
  return finding;
}

Finding device_finding(const std::string& name, Device device, const char* unit) {
  try {
    const DeviceFacts& facts = facts_of(device);
    const std::string target = name_of_target(target_of(device));
    Finding finding;
    finding.name = name;
    finding.text = fmt::format("{}, {:.0f} GiB, {} {}, target {}", facts.name,
                               gigabytes(facts.total_bytes), facts.multiprocessors, unit, target);
    finding.facts = {{"name", facts.name},
                     {"bytes", facts.total_bytes},
                     {"target", target},
                     {"target_text", to_string(target_of(device))}};
    return finding;
  } catch (const Error& error) {
    return missing(name, error.what(), "");
  }
}

Finding library_finding(const std::string& name, const std::string& reason, const char* use) {
  for (const BoundLibrary& library : bound_libraries()) {
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
  if (!reason.empty()) return missing(name, "not searched for without a GPU", use);
  Finding finding;
  finding.name = name;
  finding.text = "linked";
  return finding;
}

}  // namespace heddle::runtime
