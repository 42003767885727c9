#pragma once

#include <optional>
#include <span>

#include "frontend/graph/node.h"
#include "runtime/device/device.h"

namespace heddle::frontend {

/// Where the value is, or will be computed. None of a value that any device can compute (a number,
/// or what is made of numbers) and of values of a trace, which are where the call's arrays are.
std::optional<runtime::Device> device_of(const Node& node);

struct PlacedOperand {
  const Node* node;
  std::optional<runtime::Device> device;
};

/// The device that the operands have in common; none where none has one. Throws DeviceError with
/// the op, each operand's type and device, and the user's line when there are several.
std::optional<runtime::Device> common_device(std::string_view op,
                                             std::span<const PlacedOperand> operands,
                                             const Site& site);
std::optional<runtime::Device> common_device(std::string_view op, std::span<const NodeRef> operands,
                                             const Site& site);

/// Throws such an error, naming `op`, unless an array that is written and what is written to it are
/// on one device.
void require_same_device(std::string_view op, const Node& to, const Node& value, const Site& site);

}  // namespace heddle::frontend
