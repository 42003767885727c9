#pragma once

#include <string>
#include <string_view>

/// Keeps generated sources in files, for tools that show a kernel beside its source: Nsight
/// Compute, cuda-gdb, compute-sanitizer, perf. Enabled by HEDDLE_LINE_INFO=1. Machine code then
/// contains source files and lines, and has its own cache entries.
namespace heddle::runtime {

/// The folder for sources: HEDDLE_DUMP_DIR if set, else sources/ in the cache folder. Empty if
/// sources are not kept, or there is no such folder.
const std::string& source_folder();
/// Writes KERNEL.cu or .cpp to source_folder() unless it exists. Warns once if that fails.
void keep_source(const std::string& kernel, std::string_view extension, std::string_view text);
/// The path of a kernel's source in a folder.
std::string source_path(std::string_view folder, std::string_view kernel,
                        std::string_view extension);

}  // namespace heddle::runtime
