#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Libraries that are opened when first needed, so that Heddle itself links none of CUDA.
///
/// A library is looked for in this order, and the first file that opens is taken:
///  1. the variable that names its file or folder (`LibraryRequest::variable`), where set;
///  2. HEDDLE_CUDA_PATH, CUDA_PATH, CUDA_HOME: each folder itself and its lib64, lib,
///     targets/<machine>-linux/lib;
///  3. beside Heddle's own library, and in ../lib from there;
///  4. folders that a program added, and the layouts of pip's and conda's packages:
///  nvidia/cu13/lib,
///     nvidia/cu12/lib, nvidia/<package>/lib in the site-packages above our library, in
///     $VIRTUAL_ENV and in $CONDA_PREFIX, then $CONDA_PREFIX/lib;
///  5. the system's search path (LD_LIBRARY_PATH, ld.so.cache);
///  6. /usr/local/cuda*/lib64 and lib, the newest first.
#include "ir/base/environment.h"

namespace heddle::runtime {

struct LibraryRequest {
  std::string title = {};                  ///< "NVRTC", for messages
  std::vector<std::string> names = {};     ///< file names, the best first: "libnvrtc.so.13"
  std::vector<std::string> packages = {};  ///< folders under nvidia/ in pip's layout: "cuda_nvrtc"
  std::optional<ir::Variable> variable = {};  ///< that names the file or its folder
  bool system_only = false;                   ///< only 1 and 5: the driver belongs to the system
};

/// One place that was tried and what came of it.
struct LibraryAttempt {
  std::string place;
  std::string outcome;  ///< "opened", "no such folder", "none of ...", or dlopen's message
};

/// What became of a request, for error texts and `heddle doctor`.
struct LibraryReport {
  std::string title;
  std::string path;  ///< the file that was opened, empty where none was
  std::vector<LibraryAttempt> attempts;
  /// Several lines: what was opened, or every place tried and what to do.
  std::string text() const;
};

/// An open shared library. It stays open for the life of the process: code in it may still run
/// when static objects are destroyed.
class DynamicLibrary {
 public:
  /// nullopt where no file opened; `report`, where given, says why either way.
  static std::optional<DynamicLibrary> open(const LibraryRequest& request,
                                            LibraryReport* report = nullptr);

  /// nullptr for a name that the library does not export.
  void* symbol(const char* name) const;
  /// Sets a function pointer to what the library exports; a name that it does not is added to
  /// `missing`, behind a space.
  template <class Pointer>
  void bind(Pointer& entry, const char* name, std::string& missing) const {
    entry = reinterpret_cast<Pointer>(symbol(name));
    if (entry == nullptr) missing.append(" ").append(name);
  }
  /// The file's resolved path.
  const std::string& path() const { return path_; }
  /// The GNU build id in hexadecimal, equal wherever the same build is installed; empty without.
  std::string build_id() const;

 private:
  DynamicLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  void* handle_;
  std::string path_;
};

/// A folder to look in at step 4, for instance an entry of Python's sys.path.
void add_library_folder(std::string_view folder);
/// Every request made so far in this process, in order, the last result for each title.
std::vector<LibraryReport> library_reports();
/// The folder that holds Heddle's own code (shared library or executable), resolved.
std::string own_library_folder();

}  // namespace heddle::runtime
