#pragma once

#include <span>
#include <string>
#include <vector>

#include "codegen/common/kernel_source.h"
#include "ir/types/target.h"
#include "runtime/cache/image.h"
#include "runtime/cache/key.h"
#include "runtime/compile/kernel_compiler.h"
#include "runtime/compile/options.h"

namespace heddle::runtime {

const KernelCompiler& compiler_of(const ir::Target& target);

/// The kernels' machine code, from the cache, or compiled and then stored. Each module holds the
/// batch of kernels that one compiler run takes. Compiles in parallel. Throws CompileError;
/// DeviceError if there is no compiler; Interrupted, after which the finished modules are in the
/// cache.
std::vector<ModuleImage> make_modules(std::span<const codegen::KernelSource> kernels,
                                      const CompileOptions& options, const ir::Target& target,
                                      Lookup lookup);

/// The key of a module: all inputs of its compiler, which are the kernels' source in order, the
/// architecture, the compiler's version and its options. Throws DeviceError if there is no
/// compiler.
cache::Key module_key(std::span<const codegen::KernelSource> kernels, const CompileOptions& options,
                      const ir::Target& target);

/// Whether the kernels' modules are all in the cache. None is read.
bool has_modules(std::span<const codegen::KernelSource> kernels, const CompileOptions& options,
                 const ir::Target& target);

/// Why the kernels' modules are not all in the cache, for the first one missing; empty if all are
/// there.
std::string explain_missing_modules(std::span<const codegen::KernelSource> kernels,
                                    const CompileOptions& options, const ir::Target& target);

/// The compiler for these options and its version; if it matters, also how it is invoked.
std::string compiler_identity(const CompileOptions& options, const ir::Target& target);

/// The versions that built an entry, which `heddle cache verify` compares with the current ones,
/// and the kernels in the entry.
std::string entry_facts(const std::vector<std::string>& kernels, const CompileOptions& options,
                        const ir::Target& target);

}  // namespace heddle::runtime
