#include "runtime/cuda/raw_module.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "heddle/error.h"

#include "runtime/cuda/devices.h"
#include "runtime/cuda/kernel_parameters.h"
#include "runtime/cuda/loaded_code.h"
#include "runtime/launch/launcher.h"

namespace heddle::runtime::cuda {

namespace {

class CudaFunction final : public RawFunction {
 public:
  CudaFunction(std::string name, FunctionHandle handle, bool cooperative)
      : name_(std::move(name)),
        handle_(handle),
        cooperative_(cooperative),
        most_threads_(attribute(KernelAttribute::max_threads_per_block)),
        sizes_(parameter_sizes(handle)) {}

  void launch(const LaunchShape& shape, const LaunchValues& values,
              const Stream& stream) const override;
  int attribute(KernelAttribute attribute) const override {
    int value = 0;
    driver().func_get_attribute(&value, static_cast<FunctionAttribute>(attribute), handle_);
    return value;
  }
  void set_attribute(KernelAttribute attribute, int value) const override {
    driver().func_set_attribute(handle_, static_cast<FunctionAttribute>(attribute), value);
  }

 private:
  void check(const LaunchShape& shape) const;
  void enqueue(const LaunchShape& shape, void** parameters, const Stream& stream) const;
  [[noreturn]] void fail(const std::string& what) const {
    throw ValueError(fmt::format("{}: {}", name_, what));
  }

  std::string name_;
  FunctionHandle handle_;
  bool cooperative_;
  int most_threads_;                               ///< that a block may have
  std::optional<std::vector<std::size_t>> sizes_;  ///< of the parameters; nullopt: unknown
};

/// Names what a driver would refuse as an invalid value.
void CudaFunction::check(const LaunchShape& shape) const {
  constexpr std::array<std::uint32_t, 3> most_blocks = {0x7fffffff, 65535, 65535};
  constexpr std::array<std::uint32_t, 3> most_threads = {1024, 1024, 64};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto require = [&](const char* what, std::uint32_t extent, std::uint32_t most) {
      if (extent == 0 || extent > most)
        fail(fmt::format("axis {} of the {} is {}, which is not in 1 to {}", axis, what, extent,
                         most));
    };
    require("grid", shape.grid[axis], most_blocks[axis]);
    require("block", shape.block[axis], most_threads[axis]);
  }
  const std::uint32_t threads = shape.block[0] * shape.block[1] * shape.block[2];
  if (std::cmp_greater(threads, most_threads_)) {
    fail(fmt::format("a block of {} threads, but the kernel allows at most {}", threads,
                     most_threads_));
  }
  if (shape.shared_bytes == 0) return;
  if (const int most = attribute(KernelAttribute::max_dynamic_shared_size_bytes);
      std::cmp_greater(shape.shared_bytes, most)) {
    fail(fmt::format("shared_mem is {}, but max_dynamic_shared_size_bytes is {}; raise that first",
                     shape.shared_bytes, most));
  }
}

void CudaFunction::launch(const LaunchShape& shape, const LaunchValues& values,
                          const Stream& stream) const {
  check(shape);
  if (sizes_) check_values(name_, *sizes_, values);
  count_launch(name_);
  enqueue(shape, values.pointers().data(), stream);
}

void CudaFunction::enqueue(const LaunchShape& shape, void** parameters,
                           const Stream& stream) const {
  const auto [grid_x, grid_y, grid_z] = shape.grid;
  const auto [block_x, block_y, block_z] = shape.block;
  if (!cooperative_) {
    driver().launch_kernel(handle_, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                           shape.shared_bytes, stream.handle(), parameters, nullptr);
    return;
  }
  if (!driver().launch_kernel_ex) {
    throw DeviceError(fmt::format(
        "{}: this driver has no cuLaunchKernelEx, which cooperative launches need", name_));
  }
  LaunchAttribute cooperative;
  cooperative.id = LaunchAttributeId::cooperative;
  cooperative.value.cooperative = 1;
  LaunchConfig config;
  std::copy(shape.grid.begin(), shape.grid.end(), config.grid);
  std::copy(shape.block.begin(), shape.block.end(), config.block);
  config.shared_bytes = shape.shared_bytes;
  config.stream = stream.handle();
  config.attributes = &cooperative;
  config.attribute_count = 1;
  driver().launch_kernel_ex(&config, handle_, parameters, nullptr);
}

}  // namespace

CudaRawModule::CudaRawModule(const RawSource& source, int ordinal)
    : name_(source.name), cooperative_(source.cooperative), code_(loaded_code(source, ordinal)) {}

const std::string& CudaRawModule::symbol_of(const std::string& name) const {
  const auto found = code_->symbols.find(name);
  return found == code_->symbols.end() ? name : found->second;
}

FunctionHandle CudaRawModule::handle_of(const std::string& name) const {
  try {
    return code_->module->function(symbol_of(name));
  } catch (const DeviceError& failure) {
    throw DeviceError(fmt::format(
        "{}: {}. A kernel is found by its name if it is extern \"C\", and a C++ kernel by a name "
        "expression, which is given to RawModule.",
        name_, failure.what()));
  }
}

const RawFunction& CudaRawModule::function(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = functions_.find(name);
  if (found != functions_.end()) return *found->second;
  auto made = std::make_unique<CudaFunction>(name, handle_of(name), cooperative_);
  return *functions_.emplace(name, std::move(made)).first->second;
}

DeviceVariable CudaRawModule::variable(const std::string& name) const {
  DevicePointer pointer = 0;
  DeviceVariable variable;
  const Result result = driver().module_get_global.attempt(
      &pointer, &variable.bytes, code_->module->handle(), symbol_of(name).c_str());
  if (result == Result::not_found) {
    throw DeviceError(fmt::format(
        "{}: the module has no variable {}. A variable is found by its name if it is extern \"C\".",
        name_, name));
  }
  cuda::check(result, "cuModuleGetGlobal_v2");
  variable.pointer = reinterpret_cast<void*>(pointer);
  return variable;
}

}  // namespace heddle::runtime::cuda
