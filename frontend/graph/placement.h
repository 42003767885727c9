#pragma once

#include <optional>
#include <span>

#include "frontend/graph/node.h"
#include "runtime/device/device.h"

namespace heddle::frontend {

/// The device on which the value is or will be computed. None for a value that any device can
/// compute (a number, or an op of numbers only), and for values of a trace, which are on the device
/// of the call's arrays.
std::optional<runtime::Device> device_of(const Node& node);

struct PlacedOperand {
  const Node* node;
  std::optional<runtime::Device> device;
};

/// The common device of the operands; none if no operand has one. If there are several, throws a
/// DeviceError with the op, each operand's type and device, and the user's line.
std::optional<runtime::Device> common_device(std::string_view op,
                                             std::span<const PlacedOperand> operands,
                                             const Site& site);
std::optional<runtime::Device> common_device(std::string_view op, std::span<const NodeRef> operands,
                                             const Site& site);

/// Throws the same DeviceError unless the written array and the value are on one device.
void require_same_device(std::string_view op, const Node& to, const Node& value, const Site& site);

}  // namespace heddle::frontend
