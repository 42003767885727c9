#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::runtime {

/// A host kernel: see codegen for what it does with its arguments.
using HostFunction = void (*)(void* const* buffers, const std::int64_t* scalars, std::int64_t begin,
                              std::int64_t end);

/// A shared object of host kernels, loaded from memory. Unloaded with the object, which must
/// outlive all work that uses it.
class HostModule {
 public:
  /// Throws BadImage when it does not load, with the loader's words.
  explicit HostModule(std::string_view bytes);
  ~HostModule();
  HostModule(const HostModule&) = delete;
  HostModule& operator=(const HostModule&) = delete;

  /// Throws DeviceError where there is no such kernel.
  HostFunction function(const std::string& name) const;

 private:
  void* handle_ = nullptr;
};

}  // namespace heddle::runtime
