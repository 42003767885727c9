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

/// A hash of every file that the text, and each of these files, names in an #include, and of
/// `extra` files; by their contents, not by their paths. Searches the working folder and `folders`.
/// Files that are not found are skipped, and conditions of the preprocessor are ignored.
std::string hash_of_includes(std::string_view text, const std::vector<std::string>& extra,
                             const std::vector<std::string>& folders);

}  // namespace heddle::runtime::cuda
