#pragma once

#include <cstddef>
#include <filesystem>

namespace heddle::runtime {

/// Bytes of memory that this process may still take: what the system has available, swap included,
/// and what its control group (version 1 or 2) leaves it. SIZE_MAX where nothing says so.
std::size_t host_free_bytes();
/// The same with the files of /proc and /sys below another folder.
std::size_t host_free_bytes(const std::filesystem::path& root);

}  // namespace heddle::runtime
