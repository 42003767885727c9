#pragma once

#include <cstddef>
#include <filesystem>

namespace heddle::runtime {

/// Bytes of memory that this process can still allocate: the minimum of the system's available
/// memory, swap included, and the rest of its control group (version 1 or 2). SIZE_MAX if neither
/// is known.
std::size_t host_free_bytes();
/// The same, reading the files of /proc and /sys below another folder.
std::size_t host_free_bytes(const std::filesystem::path& root);

}  // namespace heddle::runtime
