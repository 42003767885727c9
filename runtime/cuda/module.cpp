#include "runtime/cuda/module.h"

#include <array>

#include <fmt/format.h>

#include "heddle/error.h"

#include "runtime/base/fault.h"
#include "runtime/compile/bad_image.h"
#include "runtime/cuda/devices.h"

namespace heddle::runtime {

namespace {

bool is_damaged(cuda::Result result) {
  return result == cuda::Result::invalid_image || result == cuda::Result::invalid_source ||
         result == cuda::Result::invalid_ptx;
}

/// Whether the code is for a newer driver or another GPU.
bool is_unsuitable(cuda::Result result) {
  return result == cuda::Result::unsupported_ptx_version ||
         result == cuda::Result::no_binary_for_gpu;
}

std::string mend_of(cuda::Result result) {
  if (!is_unsuitable(result)) return {};
  const int version = cuda::driver_version();
  return fmt::format(
      " The driver supports CUDA {}.{}: install a newer driver, or an NVRTC of that release or "
      "older (pip install nvidia-cuda-nvrtc, or HEDDLE_NVRTC).",
      version / 1000, version % 1000 / 10);
}

}  // namespace

CudaModule::CudaModule(std::string_view bytes, int ordinal) : ordinal_(ordinal) {
  if (fault::point(fault::Kind::load)) {
    throw BadImage("cuModuleLoadDataEx failed: injected fault", false);
  }
  cuda::ContextScope context(ordinal);
  std::array<char, 4096> text{};
  std::array<cuda::JitOption, 2> options = {cuda::JitOption::error_log_buffer,
                                            cuda::JitOption::error_log_buffer_size_bytes};
  std::array<void*, 2> values = {text.data(), reinterpret_cast<void*>(text.size() - 1)};
  // PTX must be zero-terminated, which a string_view does not guarantee.
  const std::string image(bytes);
  const cuda::Result result = cuda::driver().module_load_data_ex.attempt(
      &handle_, image.c_str(), static_cast<unsigned>(options.size()), options.data(),
      values.data());
  if (result == cuda::Result::success) return;
  try {
    cuda::check(result, "cuModuleLoadDataEx", ordinal);
  } catch (const DeviceError& failure) {
    const std::string what =
        fmt::format("{} on {}. {}{}", failure.what(), to_string({DeviceKind::cuda, ordinal}),
                    text.data(), mend_of(result));
    if (is_damaged(result) || is_unsuitable(result)) throw BadImage(what, is_damaged(result));
    throw DeviceError(what);
  }
}

CudaModule::~CudaModule() {
  if (handle_ == nullptr || cuda::unusable()) return;
  try {
    cuda::ContextScope context(ordinal_);
    // The driver does not keep the code for pending launches, so wait for them.
    cuda::driver().ctx_synchronize.attempt();
    cuda::driver().module_unload.attempt(handle_);
  } catch (const Error&) {
    // The context is lost, and so is the module.
    handle_ = nullptr;
  }
}

cuda::FunctionHandle CudaModule::function(const std::string& name) const {
  cuda::ContextScope context(ordinal_);
  cuda::FunctionHandle out = nullptr;
  const cuda::Result result =
      cuda::driver().module_get_function.attempt(&out, handle_, name.c_str());
  if (result == cuda::Result::not_found) {
    throw DeviceError(fmt::format("the module has no kernel {}", name));
  }
  cuda::check(result, "cuModuleGetFunction");
  return out;
}

KernelFacts facts_of(cuda::FunctionHandle function) {
  auto read = [&](cuda::FunctionAttribute attribute) {
    int value = 0;
    cuda::driver().func_get_attribute(&value, attribute, function);
    return value;
  };
  return {.registers = read(cuda::FunctionAttribute::registers),
          .local_bytes = read(cuda::FunctionAttribute::local_size_bytes),
          .shared_bytes = read(cuda::FunctionAttribute::shared_size_bytes),
          .max_threads_per_block = read(cuda::FunctionAttribute::max_threads_per_block)};
}

}  // namespace heddle::runtime
