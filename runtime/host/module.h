#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::runtime {

/// A host kernel. The code generator (codegen/host) defines the meaning of its arguments.
using HostFunction = void (*)(void* const* buffers, const std::int64_t* scalars, std::int64_t begin,
                              std::int64_t end);

/// A shared object of host kernels, loaded from memory. The destructor unloads it, so the object
/// must outlive all work that uses it.
class HostModule {
 public:
  /// Throws BadImage with the loader's message if it does not load.
  explicit HostModule(std::string_view bytes);
  ~HostModule();
  HostModule(const HostModule&) = delete;
  HostModule& operator=(const HostModule&) = delete;

  /// Throws DeviceError if there is no such kernel.
  HostFunction function(const std::string& name) const;
  /// The address of a function or constant. Throws DeviceError if there is none of this name.
  void* symbol(const std::string& name) const;

 private:
  void* handle_ = nullptr;
};

}  // namespace heddle::runtime
