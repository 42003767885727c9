#pragma once

#include <string>
#include <string_view>

/// Generated sources at a place that stays, for tools that show a kernel beside its source: Nsight
/// Compute, cuda-gdb, compute-sanitizer, perf. HEDDLE_LINE_INFO=1 asks for them. Machine code then
/// says which line of which file it is of, and is another entry of the cache than without.
namespace heddle::runtime {

/// The folder sources/ of the cache's, or HEDDLE_DUMP_DIR where that is set; empty where nobody
/// asks for sources, or there is no folder for them.
const std::string& source_folder();
/// Writes sources/KERNEL.cu, or .cpp, unless it is there. Where that fails it warns, once.
void keep_source(const std::string& kernel, std::string_view extension, std::string_view text);
/// The file's path in such a folder.
std::string source_path(std::string_view folder, std::string_view kernel,
                        std::string_view extension);

}  // namespace heddle::runtime
