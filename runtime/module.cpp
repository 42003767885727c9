#include "runtime/module.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/fork_gate.h"
#include "runtime/fault.h"
#include "runtime/temporary_folder.h"

namespace heddle::runtime {

namespace {

/// A file descriptor, closed on every way out.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value() const { return value_; }

  bool write_all(std::string_view bytes) const {
    while (value_ >= 0 && !bytes.empty()) {
      const ssize_t count = write(value_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return value_ >= 0;
  }

 private:
  int value_;
};

void* open_object(const std::string& path) {
  const ir::ForkSection section;
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

/// A path to a descriptor's file that was never used before. The loader takes two objects opened by
/// the same path for one, even when the number meanwhile belongs to another file, so a count is
/// written into the path in ways that the file system ignores: "./" for a one and "/" for a zero.
std::string fresh_path_of(int descriptor) {
  static std::atomic<std::uint64_t> next{1};
  std::string path = "/proc/self/";
  for (std::uint64_t rest = next.fetch_add(1); rest != 0; rest >>= 1) {
    path += (rest & 1) != 0 ? "./" : "/";
  }
  return fmt::format("{}fd/{}", path, descriptor);
}

void* open_from_memory(std::string_view bytes) {
  const Descriptor file(memfd_create("heddle-kernels", MFD_CLOEXEC));
  if (!file.write_all(bytes)) return nullptr;
  return open_object(fresh_path_of(file.value()));
}

/// For systems that have no memory files, or that forbid code in them.
void* open_from_folder(std::string_view bytes) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/kernels.so";
  {
    const Descriptor file(open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0700));
    if (!file.write_all(bytes)) return nullptr;
  }
  return open_object(path);
}

bool is_damaged(cuda::Result result) {
  return result == cuda::Result::invalid_image || result == cuda::Result::invalid_source ||
         result == cuda::Result::invalid_ptx;
}

/// Code that a driver does not know is that of a newer release's compiler, or of another GPU.
bool is_unsuitable(cuda::Result result) {
  return result == cuda::Result::unsupported_ptx_version ||
         result == cuda::Result::no_binary_for_gpu;
}

std::string mend_of(cuda::Result result) {
  if (!is_unsuitable(result)) return {};
  const int version = cuda::driver_version();
  return fmt::format(
      " The driver serves CUDA {}.{}: install a newer driver, or an NVRTC of at most that release "
      "(pip install nvidia-cuda-nvrtc, or HEDDLE_NVRTC).",
      version / 1000, version % 1000 / 10);
}

std::string loader_message() {
  const char* message = dlerror();
  return message != nullptr ? message : "the object cannot be written anywhere";
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
  // PTX has to end in a zero, which a string_view does not promise.
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
    // The driver does not keep code for launches that are still pending.
    cuda::driver().ctx_synchronize.attempt();
    cuda::driver().module_unload.attempt(handle_);
  } catch (const Error&) {
    // The context is lost, and the module with it.
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

HostModule::HostModule(std::string_view bytes) {
  if (fault::point(fault::Kind::load)) {
    throw BadImage("kernels for the CPU do not load: injected fault", false);
  }
  handle_ = open_from_memory(bytes);
  if (handle_ != nullptr) return;
  std::string why = loader_message();
  try {
    handle_ = open_from_folder(bytes);
    if (handle_ == nullptr) why += "; " + loader_message();
  } catch (const std::system_error& failure) {
    why += std::string("; ") + failure.what();
  }
  if (handle_ == nullptr)
    throw BadImage(fmt::format("kernels for the CPU do not load: {}", why), false);
}

HostModule::~HostModule() {
  const ir::ForkSection section;
  dlclose(handle_);
}

HostFunction HostModule::function(const std::string& name) const {
  void* symbol = dlsym(handle_, name.c_str());
  if (symbol == nullptr) throw DeviceError(fmt::format("the module has no kernel {}", name));
  return reinterpret_cast<HostFunction>(symbol);
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
