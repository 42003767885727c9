#include "runtime/device/backend.h"

#include "heddle/error.h"

namespace heddle::runtime {

namespace {

/// Indexed by DeviceKind, like `capabilities`.
constexpr std::array backends = {host_backend, cuda_backend};

}  // namespace

constinit const std::array<DeviceKind, backend_count> preferred_kinds = {DeviceKind::cuda,
                                                                         DeviceKind::cpu};

namespace detail {
constinit const std::array<const Capabilities*, backend_count> capabilities = {&host_capabilities,
                                                                               &cuda_capabilities};
}

const Backend& backend_of(DeviceKind kind) { return backends[static_cast<std::size_t>(kind)](); }

const Backend& backend_of(const ir::Target& target) {
  for (const auto& backend : backends) {
    if (backend().serves(target)) return backend();
  }
  throw InternalError("no backend serves " + to_string(target));
}

}  // namespace heddle::runtime
