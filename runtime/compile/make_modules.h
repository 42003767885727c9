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

/// The kernels' machine code, from the cache or compiled, and then stored: a module for each batch
/// that one run of the compiler takes. Compiles in parallel. Throws CompileError; DeviceError when
/// there is no compiler; Interrupted, and then the modules that were finished are in the cache.
std::vector<ModuleImage> make_modules(std::span<const codegen::KernelSource> kernels,
                                      const CompileOptions& options, const ir::Target& target,
                                      Lookup lookup);

/// The key of a module: all that its compiler sees, which is the kernels' text in order, the
/// architecture, the compiler's version and its options. Throws DeviceError when there is no
/// compiler.
cache::Key module_key(std::span<const codegen::KernelSource> kernels, const CompileOptions& options,
                      const ir::Target& target);

/// Why the cache does not have the kernels' modules, of the first that is missing; empty where it
/// has all.
std::string explain_missing_modules(std::span<const codegen::KernelSource> kernels,
                                    const CompileOptions& options, const ir::Target& target);

/// The compiler of these options and its version; where it matters, how it is called.
std::string compiler_identity(const CompileOptions& options, const ir::Target& target);

/// What an entry was built by, which `heddle cache verify` compares with what is here now, and the
/// kernels that it holds.
std::string entry_facts(const std::vector<std::string>& kernels, const CompileOptions& options,
                        const ir::Target& target);

}  // namespace heddle::runtime
