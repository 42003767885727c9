#include "frontend/exchange/device_names.h"

#include <algorithm>
#include <array>

namespace heddle::dlpack {

namespace {

/// The first row of a kind is the DLPack type under which its devices are exported.
struct Row {
  DeviceType type;
  runtime::DeviceKind kind;
  bool has_ordinal;
};
constexpr std::array rows = {Row{cpu, runtime::DeviceKind::cpu, false},
                             Row{cuda, runtime::DeviceKind::cuda, true},
                             Row{cuda_managed, runtime::DeviceKind::cuda, true},
                             Row{cuda_host, runtime::DeviceKind::cpu, false}};

}  // namespace

std::optional<runtime::Device> find_device(const Device& device) {
  const auto* const row = std::ranges::find_if(
      rows, [&](const Row& each) { return static_cast<std::int32_t>(each.type) == device.type; });
  if (row == rows.end()) return std::nullopt;
  return runtime::Device{row->kind, row->has_ordinal ? device.ordinal : 0};
}

Device name_of(const runtime::Device& device) {
  const auto* const row =
      std::ranges::find_if(rows, [&](const Row& each) { return each.kind == device.kind; });
  return {row->type, device.ordinal};
}

}  // namespace heddle::dlpack
