#include "frontend/graph/placement.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "heddle/error.h"

#include "frontend/graph/record.h"

namespace heddle::frontend {

namespace {

[[noreturn]] void refuse(std::string_view op, std::span<const PlacedOperand> operands,
                         const Site& site) {
  std::string list;
  for (const auto& [node, device] : operands) {
    if (!device) continue;
    list += fmt::format("{}{} on {}", list.empty() ? "" : ", ", describe(*node),
                        runtime::to_string(*device));
  }
  throw DeviceError(at(fmt::format("{}: the arrays are on different devices: {}. Move them to one "
                                   "device first (in Python x.to_device(\"cuda:0\"))",
                                   op, list),
                       site));
}

}  // namespace

std::optional<runtime::Device> device_of(const Node& node) {
  if (node.trace_id != 0) return std::nullopt;
  if (node.evaluated()) return node.value.buffer->device();
  return node.planned_device();
}

std::optional<runtime::Device> common_device(std::string_view op,
                                             std::span<const PlacedOperand> operands,
                                             const Site& site) {
  std::optional<runtime::Device> common;
  for (const auto& [node, device] : operands) {
    if (!device) continue;
    if (common && !(*common == *device)) refuse(op, operands, site);
    common = device;
  }
  return common;
}

std::optional<runtime::Device> common_device(std::string_view op, std::span<const NodeRef> operands,
                                             const Site& site) {
  std::optional<runtime::Device> common;
  for (const NodeRef& operand : operands) {
    const std::optional<runtime::Device> device = device_of(*operand);
    if (!device) continue;
    if (common && !(*common == *device)) [[unlikely]] {
      std::vector<PlacedOperand> placed;
      for (const NodeRef& each : operands) placed.push_back({each.get(), device_of(*each)});
      refuse(op, placed, site);
    }
    common = device;
  }
  return common;
}

void require_same_device(std::string_view op, const Node& to, const Node& value, const Site& site) {
  const PlacedOperand operands[] = {{&to, device_of(to)}, {&value, device_of(value)}};
  const auto& [first, second] = operands;
  if (first.device && second.device && !(*first.device == *second.device))
    refuse(op, operands, site);
}

}  // namespace heddle::frontend
