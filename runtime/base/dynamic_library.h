#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Libraries that are opened when first needed, so that Heddle itself does not link against CUDA.
///
/// A library is searched for in this order, and the first file that opens is taken:
///  1. the variable that names its file or folder (`LibraryRequest::variable`), if set;
///  2. HEDDLE_CUDA_PATH, CUDA_PATH, CUDA_HOME: each folder itself and its lib64, lib,
///     targets/<machine>-linux/lib;
///  3. the folder of Heddle's own library, and ../lib from there;
///  4. folders that a program added, and the layouts of pip's and conda's packages:
///     nvidia/cu13/lib, nvidia/cu12/lib, nvidia/<package>/lib in the site-packages above our
///     library, in $VIRTUAL_ENV and in $CONDA_PREFIX, then $CONDA_PREFIX/lib;
///  5. the system's search path (LD_LIBRARY_PATH, ld.so.cache);
///  6. /usr/local/cuda*/lib64 and lib, the newest first.
#include "ir/base/environment.h"

namespace heddle::runtime {

struct LibraryRequest {
  std::string title = {};                  ///< "NVRTC", for messages
  std::vector<std::string> names = {};     ///< file names, the best first: "libnvrtc.so.13"
  std::vector<std::string> packages = {};  ///< folders under nvidia/ in pip's layout: "cuda_nvrtc"
  std::optional<ir::Variable> variable = {};  ///< the environment variable that names the file or
                                              ///< its folder
  bool system_only = false;                   ///< search only at steps 1 and 5: the driver belongs
                                              ///< to the system
};

/// A location that was tried, and the result.
struct LibraryAttempt {
  std::string place;
  std::string outcome;  ///< "opened", "no such folder", "none of ...", or dlopen's message
};

/// The result of a request, for error texts and `heddle doctor`.
struct LibraryReport {
  std::string title;
  std::string path;  ///< the file that was opened; empty if none
  std::vector<LibraryAttempt> attempts;
  /// Several lines: the file that was opened, or every location tried and what to do.
  std::string text() const;
};

/// An open shared library. It stays open for the life of the process: code in it may still run
/// when static objects are destroyed.
class DynamicLibrary {
 public:
  /// nullopt if no file opened. `report`, if given, receives every attempt in both cases.
  static std::optional<DynamicLibrary> open(const LibraryRequest& request,
                                            LibraryReport* report = nullptr);

  /// nullptr for a name that the library does not export.
  void* symbol(const char* name) const;
  /// Sets a function pointer to the exported symbol. If the library does not export the name,
  /// appends a space and the name to `missing`.
  template <class Pointer>
  void bind(Pointer& entry, const char* name, std::string& missing) const {
    entry = reinterpret_cast<Pointer>(symbol(name));
    if (entry == nullptr) missing.append(" ").append(name);
  }
  /// The file's resolved path.
  const std::string& path() const { return path_; }
  /// The GNU build id in hexadecimal, the same wherever this build is installed; empty if there is
  /// none.
  std::string build_id() const;

 private:
  DynamicLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  void* handle_;
  std::string path_;
};

/// The folders that a request searches besides the system's search path, in order. They need not
/// exist.
std::vector<std::string> library_folders(const LibraryRequest& request);
/// Adds a folder to search at step 4, for instance an entry of Python's sys.path.
void add_library_folder(std::string_view folder);
/// Every request made so far in this process, in order; for each title only the last result.
std::vector<LibraryReport> library_reports();
/// The folder that holds Heddle's own code (shared library or executable), resolved.
std::string own_library_folder();

}  // namespace heddle::runtime
