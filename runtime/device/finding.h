#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "runtime/device/device.h"

/// What there is on a machine, for `heddle doctor`.
namespace heddle::runtime {

/// One line of the report, and what to do where something is missing.
struct Finding {
  std::string name;
  bool good = true;
  std::string text;
  std::string advice;
  nlohmann::json facts = nlohmann::json::object();
};

/// Something that is not there, why, and what to do.
Finding missing(std::string name, std::string why, std::string advice);
/// `unit` is what DeviceFacts::multiprocessors counts.
Finding device_finding(const std::string& name, Device device, const char* unit);
/// A library by its title. `reason`, why it is not there, is asked so that it has been looked for.
Finding library_finding(const std::string& name, const std::string& reason, const char* use);
/// What Heddle itself was built with.
Finding built_in_finding(const char* name, bool there, const char* advice);

}  // namespace heddle::runtime
