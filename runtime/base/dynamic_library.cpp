#include "runtime/base/dynamic_library.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"
#include "runtime/base/fault.h"
#include "runtime/base/log.h"

namespace heddle::runtime {

using ir::environment;
using ir::Variable;

namespace fs = std::filesystem;

namespace {

struct Registry {
  ir::Mutex mutex;
  std::vector<std::string> folders;
  std::vector<LibraryReport> reports;
};

Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

fs::path resolved(const fs::path& path) {
  std::error_code failure;
  fs::path real = fs::canonical(path, failure);
  return failure ? path : real;
}

/// Folders inside `parent` whose names start with `prefix`, the highest version first.
std::vector<fs::path> children(const fs::path& parent, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code failure;
  fs::directory_iterator it(parent, failure);
  for (; !failure && it != fs::directory_iterator(); it.increment(failure)) {
    if (it->path().filename().string().starts_with(prefix)) found.push_back(it->path());
  }
  auto version = [&](const fs::path& path) {
    std::string tail = path.filename().string().substr(prefix.size());
    if (tail.starts_with("-")) tail.erase(0, 1);
    int major = 0, minor = 0;
    std::sscanf(tail.c_str(), "%d.%d", &major, &minor);
    return std::pair(major, minor);
  };
  std::sort(found.begin(), found.end(), [&](const fs::path& a, const fs::path& b) {
    return version(a) != version(b) ? version(a) > version(b) : a > b;
  });
  return found;
}

void add_toolkit(std::vector<fs::path>& out, const fs::path& root) {
#if defined(__aarch64__)
  const char* target = "targets/sbsa-linux/lib";
#else
  const char* target = "targets/x86_64-linux/lib";
#endif
  for (const char* sub : {"lib64", "lib", target}) out.push_back(root / sub);
  out.push_back(root);
}

void add_site_packages(std::vector<fs::path>& out, const fs::path& site,
                       const LibraryRequest& request) {
  const fs::path nvidia = site / "nvidia";
  out.push_back(nvidia / "cu13" / "lib");
  out.push_back(nvidia / "cu12" / "lib");
  for (const std::string& package : request.packages) out.push_back(nvidia / package / "lib");
}

void add_python_prefix(std::vector<fs::path>& out, const fs::path& prefix,
                       const LibraryRequest& request) {
  for (const fs::path& python : children(prefix / "lib", "python3.")) {
    add_site_packages(out, python / "site-packages", request);
  }
}

/// Steps 2 to 4 of the search order.
std::vector<fs::path> folders_before_system(const LibraryRequest& request) {
  std::vector<fs::path> out;
  for (const Variable toolkit :
       {Variable::cuda_path, Variable::toolkit_path, Variable::toolkit_home}) {
    if (const std::string root = environment(toolkit); !root.empty()) add_toolkit(out, root);
  }
  const fs::path own = own_library_folder();
  out.push_back(own);
  out.push_back(own.parent_path() / "lib");
  {
    std::lock_guard lock(registry().mutex);
    for (const std::string& folder : registry().folders) {
      out.emplace_back(folder);
      add_site_packages(out, folder, request);
    }
  }
  for (fs::path above = own; above.has_relative_path(); above = above.parent_path()) {
    const std::string name = above.filename().string();
    if (name == "site-packages" || name == "dist-packages") add_site_packages(out, above, request);
  }
  if (const std::string venv = environment(Variable::virtual_env); !venv.empty()) {
    add_python_prefix(out, venv, request);
  }
  if (const std::string conda = environment(Variable::conda_prefix); !conda.empty()) {
    add_python_prefix(out, conda, request);
    out.emplace_back(fs::path(conda) / "lib");
  }
  return out;
}

/// Step 6 of the search order.
std::vector<fs::path> folders_after_system() {
  std::vector<fs::path> out;
  for (const fs::path& root : children("/usr/local", "cuda")) {
    out.push_back(root / "lib64");
    out.push_back(root / "lib");
  }
  return out;
}

class Search {
 public:
  Search(const LibraryRequest& request, LibraryReport& report)
      : request_(request), report_(report) {}

  void* run() {
    const std::string named = request_.variable ? environment(*request_.variable) : "";
    if (!named.empty()) {
      std::error_code failure;
      if (fs::is_directory(named, failure)) {
        if (void* handle = try_folder(named)) return handle;
      } else if (void* handle = try_file(named)) {
        return handle;
      }
    }
    if (!request_.system_only) {
      if (void* handle = try_folders(folders_before_system(request_))) return handle;
    }
    if (void* handle = try_system()) return handle;
    return request_.system_only ? nullptr : try_folders(folders_after_system());
  }

 private:
  void* try_file(const std::string& path) {
    void* handle =
        fault::point(fault::Kind::load) ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) {
      report_.path = path;
      report_.attempts.push_back({path, "opened"});
      return handle;
    }
    const char* message = dlerror();
    report_.attempts.push_back({path, message != nullptr ? message : "could not be opened"});
    return nullptr;
  }

  void* try_folder(const fs::path& folder) {
    std::error_code failure;
    if (!fs::is_directory(folder, failure)) {
      report_.attempts.push_back({folder.string(), "no such folder"});
      return nullptr;
    }
    bool any = false;
    for (const std::string& name : request_.names) {
      if (!fs::exists(folder / name, failure)) continue;
      any = true;
      if (void* handle = try_file((folder / name).string())) return handle;
    }
    if (!any) report_.attempts.push_back({folder.string(), "contains none of these files"});
    return nullptr;
  }

  void* try_folders(const std::vector<fs::path>& folders) {
    std::vector<fs::path> seen;
    for (const fs::path& folder : folders) {
      const fs::path real = resolved(folder);
      if (std::find(seen.begin(), seen.end(), real) != seen.end()) continue;
      seen.push_back(real);
      if (void* handle = try_folder(folder)) return handle;
    }
    return nullptr;
  }

  void* try_system() {
    for (const std::string& name : request_.names) {
      if (fault::point(fault::Kind::load)) continue;
      if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        report_.path = name;
        report_.attempts.push_back({"the system's search path, " + name, "opened"});
        return handle;
      }
      // A library that exists but does not load (a missing dependency) is reported as such: that
      // says more than "not found".
      const char* message = dlerror();
      report_.attempts.push_back({"the system's search path, " + name,
                                  message != nullptr ? message : "could not be opened"});
    }
    return nullptr;
  }

  const LibraryRequest& request_;
  LibraryReport& report_;
};

std::string path_of(void* handle, const std::string& fallback) {
  char origin[4096] = {};
  if (dlinfo(handle, RTLD_DI_ORIGIN, origin) == 0) {
    const fs::path candidate = fs::path(origin) / fs::path(fallback).filename();
    std::error_code failure;
    if (fs::exists(candidate, failure)) return resolved(candidate).string();
  }
  return resolved(fallback).string();
}

void record(const LibraryReport& report) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  for (LibraryReport& old : all.reports) {
    if (old.title == report.title) {
      old = report;
      return;
    }
  }
  all.reports.push_back(report);
}

}  // namespace

std::string LibraryReport::text() const {
  if (!path.empty()) return fmt::format("{}: {}", title, path);
  std::string out = fmt::format("{} was not found. Tried, in this order:\n", title);
  for (const LibraryAttempt& attempt : attempts) {
    out += fmt::format("  {}: {}\n", attempt.place, attempt.outcome);
  }
  return out;
}

std::optional<DynamicLibrary> DynamicLibrary::open(const LibraryRequest& request,
                                                   LibraryReport* report) {
  LibraryReport own;
  own.title = fmt::format("{} ({})", request.title, fmt::join(request.names, ", "));
  void* handle = Search(request, own).run();
  std::optional<DynamicLibrary> out;
  if (handle != nullptr) {
    own.path = path_of(handle, own.path);
    log().debug("{} loaded from {}", request.title, own.path);
    out = DynamicLibrary(handle, own.path);
  }
  record(own);
  if (report != nullptr) *report = std::move(own);
  return out;
}

std::vector<std::string> library_folders(const LibraryRequest& request) {
  std::vector<std::string> out;
  for (const fs::path& folder : folders_before_system(request)) out.push_back(folder.string());
  for (const fs::path& folder : folders_after_system()) out.push_back(folder.string());
  return out;
}

void* DynamicLibrary::symbol(const char* name) const { return dlsym(handle_, name); }

namespace {

struct BuildIdSearch {
  ElfW(Addr) base;
  std::string found;
};

/// Reads the notes of one loaded object: {name size, value size, type, name, value}, each padded to
/// 4 bytes.
int find_build_id(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<BuildIdSearch*>(data);
  if (info->dlpi_addr != search.base) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const auto* note = reinterpret_cast<const unsigned char*>(info->dlpi_addr + header.p_vaddr);
    const unsigned char* const end = note + header.p_memsz;
    while (end - note > static_cast<std::ptrdiff_t>(sizeof(ElfW(Nhdr)))) {
      ElfW(Nhdr) fields;
      std::memcpy(&fields, note, sizeof fields);
      const unsigned char* value = note + sizeof fields + (fields.n_namesz + 3) / 4 * 4;
      if (fields.n_type == NT_GNU_BUILD_ID && fields.n_namesz == 4) {
        for (std::size_t k = 0; k < fields.n_descsz; ++k) {
          search.found += fmt::format("{:02x}", value[k]);
        }
        return 1;
      }
      note = value + (fields.n_descsz + 3) / 4 * 4;
    }
  }
  return 1;
}

}  // namespace

std::string DynamicLibrary::build_id() const {
  link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
  BuildIdSearch search{map->l_addr, {}};
  dl_iterate_phdr(find_build_id, &search);
  return search.found;
}

void add_library_folder(std::string_view folder) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  if (std::find(all.folders.begin(), all.folders.end(), folder) == all.folders.end()) {
    all.folders.emplace_back(folder);
  }
}

std::vector<LibraryReport> library_reports() {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  return all.reports;
}

std::string own_library_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&own_library_folder), &info) == 0 ||
      info.dli_fname == nullptr) {
    return {};
  }
  // The name of an executable is argv[0], which may be relative to an earlier working directory.
  std::error_code failure;
  fs::path file = fs::canonical(info.dli_fname, failure);
  if (failure) file = fs::canonical("/proc/self/exe", failure);
  return failure ? std::string() : file.parent_path().string();
}

}  // namespace heddle::runtime
