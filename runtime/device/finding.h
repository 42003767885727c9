#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "runtime/device/device.h"

/// Inventory of a machine, for `heddle doctor`.
namespace heddle::runtime {

/// One line of the report. `advice` says what to do if something is missing.
struct Finding {
  std::string name;
  bool good = true;
  std::string text;
  std::string advice;
  nlohmann::json facts = nlohmann::json::object();
};

/// A finding for something missing: the reason, and what to do.
Finding missing(std::string name, std::string why, std::string advice);
/// `unit` names the unit of DeviceFacts::multiprocessors.
Finding device_finding(const std::string& name, Device device, const char* unit);
/// A finding for a library, by its title. `reason` says why it is unavailable; evaluating that
/// argument also ensures that the library has been searched for. A library that is available but
/// was not loaded is linked.
Finding library_finding(const std::string& name, const std::string& reason, const char* use);

}  // namespace heddle::runtime
