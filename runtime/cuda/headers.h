#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Header files that users' CUDA code includes.
namespace heddle::runtime::cuda {

/// The folders with the CUDA toolkit's headers (cuda_fp16.h, cooperative_groups.h, cuda/std): the
/// first ones beside a folder where NVRTC and the libraries are searched for. Empty if there are
/// none. Searched for once.
const std::vector<std::string>& toolkit_headers();
/// The versions that these headers state; empty if there are none.
const std::string& toolkit_version();

/// The folders and files that a compiler's options name: "-Ifolder", "-I", "folder",
/// "--include-path=folder", "-include file" and the like.
struct IncludeOptions {
  std::vector<std::string> folders;
  std::vector<std::string> files;  ///< included before the text
};
IncludeOptions include_options(const std::vector<std::string>& options);

/// The files that a text includes, and that these include.
struct Includes {
  std::string hash;             ///< of the user's files, by their contents, not by their paths
  bool uses_toolkit = false;    ///< some are found in the toolkit's folders only
  bool all_names_known = true;  ///< false: a macro names a file
};
/// Searches as NVRTC does: a quoted name beside the file with the #include, then every name in the
/// options' folders, then in the toolkit's. Files that are not found are skipped, and conditions of
/// the preprocessor are ignored.
Includes includes_of(std::string_view text, const IncludeOptions& options,
                     const std::vector<std::string>& toolkit_folders);

}  // namespace heddle::runtime::cuda
