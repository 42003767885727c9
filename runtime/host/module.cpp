#include "runtime/host/module.h"

#include <atomic>
#include <cerrno>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/fork_gate.h"
#include "runtime/base/fault.h"
#include "runtime/base/temporary_folder.h"
#include "runtime/compile/bad_image.h"

namespace heddle::runtime {

namespace {

/// Owns a file descriptor.
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

/// A path to a descriptor's file that was not used before in this process. The loader identifies
/// objects by path, even when the descriptor's number now belongs to another file. So a counter is
/// encoded in the path in ways that the file system ignores: "./" for a one and "/" for a zero.
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

/// For systems without memory files, or that forbid executing them.
void* open_from_folder(std::string_view bytes) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/kernels.so";
  {
    const Descriptor file(open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0700));
    if (!file.write_all(bytes)) return nullptr;
  }
  return open_object(path);
}

std::string loader_message() {
  const char* message = dlerror();
  return message != nullptr ? message : "the object cannot be written anywhere";
}

}  // namespace

HostModule::HostModule(std::string_view bytes) {
  if (fault::point(fault::Kind::load)) {
    throw BadImage("kernels for the CPU cannot be loaded: injected fault", false);
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
    throw BadImage(fmt::format("kernels for the CPU cannot be loaded: {}", why), false);
}

HostModule::~HostModule() {
  const ir::ForkSection section;
  dlclose(handle_);
}

HostFunction HostModule::function(const std::string& name) const {
  return reinterpret_cast<HostFunction>(symbol(name));
}

void* HostModule::symbol(const std::string& name) const {
  void* const found = dlsym(handle_, name.c_str());
  if (found == nullptr) throw DeviceError(fmt::format("the module has no kernel {}", name));
  return found;
}

}  // namespace heddle::runtime
