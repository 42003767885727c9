#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/blocks/loop_types.h"
#include "codegen/common/kernel_source.h"
#include "ir/base/span.h"
#include "passes/plan/kernel_plan.h"
#include "passes/report/report.h"
#include "runtime/cache/image.h"
#include "runtime/cache/key.h"
#include "runtime/cache/store.h"
#include "runtime/compile/options.h"
#include "runtime/compile/reproducer.h"

namespace heddle::runtime {

enum class Lookup : std::uint8_t { cached, anew };

/// A module being loaded from the cache or compiled.
struct Making {
  /// Of kernels that are compiled together, to which it keeps references. Throws DeviceError if
  /// there is no compiler.
  Making(std::span<const codegen::KernelSource> kernels, const CompileOptions& options,
         const ir::Target& target);

  /// Loads the module from the cache. Returns whether it was there.
  bool load();
  void save(cache::PayloadKind kind, std::string bytes, const CompileOptions& options,
            const ir::Target& target);

  std::span<const codegen::KernelSource> kernels;
  cache::Key key;
  ModuleImage image;
};

/// The source language of a backend's kernels.
struct Language {
  std::string_view name;       ///< "cuda" or "host"; the name in HEDDLE_DUMP
  std::string_view extension;  ///< of source files
  bool has_levels = false;     ///< the compiler uses CompileOptions::host_level
};

/// Prints and compiles a backend's kernels. One object for each backend; it is never destroyed.
/// Thread-safe.
class KernelCompiler {
 public:
  KernelCompiler(const KernelCompiler&) = delete;
  KernelCompiler& operator=(const KernelCompiler&) = delete;

  const Language& language() const { return language_; }
  virtual codegen::KernelSource print(const passes::KernelPlan& plan) const = 0;

  /// Why nothing can be compiled on this machine; empty if it can. Searches for the compiler; never
  /// throws.
  virtual const std::string& unavailable_reason() const = 0;
  /// Whether module keys are cheap: computing them does not load a library.
  virtual bool has_cheap_keys() const = 0;
  /// The compiler and its version; if it matters, also how it is invoked. Throws DeviceError if
  /// there is no compiler.
  virtual std::string identity(const CompileOptions& options, const ir::Target& target) const = 0;
  /// The common prefix of the identities of this machine's compiler; empty if there is none.
  virtual std::string identity_prefix() const = 0;
  /// The compiler's name in reports. Throws DeviceError if there is no compiler.
  virtual std::string title() const = 0;
  /// Adds the options that identity() does not include to the key of a module.
  virtual void add_options(cache::KeyBuilder& key, const CompileOptions& options) const = 0;
  /// "for sm_90", or "for the CPU".
  virtual std::string purpose(const ir::Target& target) const = 0;

  /// Why a kernel cannot run before it is compiled; empty if it can.
  virtual std::string refusal_to_defer(const passes::KernelPlan& plan,
                                       const ir::Target& target) const = 0;

  /// A function that applies an op to elements in host memory, with the bits that kernels give
  /// without `approximate`, but for the sign and the payload of NaN. Null if there is none.
  virtual heddle_blocks::MapLoop elementwise_loop(ir::Op op, DType dtype,
                                                  const ir::Target& target) const = 0;
  /// The loops of a reduction, in the order of sums that kernels have. Null if there are none.
  virtual const heddle_blocks::ReductionLoops* reduction_loops(ir::Op op, DType dtype,
                                                               const ir::Target& target) const = 0;

  /// How many of `kernels` kernels are compiled together.
  virtual std::size_t batch_size(std::size_t kernels) const = 0;
  /// Fills in the machine code of each module. Compiles in parallel. Throws CompileError,
  /// Interrupted.
  virtual void make(std::vector<Making>& makings, const CompileOptions& options,
                    const ir::Target& target, Lookup lookup) const = 0;

  /// Whether the compiler produces payloads of this kind.
  virtual bool makes(cache::PayloadKind kind) const = 0;
  /// The resources that a kernel's machine code uses; nullopt if it does not contain that
  /// information.
  virtual std::optional<passes::KernelResources> resources(const ModuleImage& module,
                                                           const std::string& kernel) const = 0;
  /// Why resources() is empty.
  virtual std::string describe_no_resources(const ir::Target& target) const = 0;
  /// A reproduction of the failed load of a module.
  virtual Reproduction reproduce_load(const ModuleImage& module) const = 0;

 protected:
  constexpr explicit KernelCompiler(const Language& language) : language_(language) {}
  ~KernelCompiler() = default;

 private:
  Language language_;
};

/// Adds its lifetime to the compile time in the cache's statistics. Throws what Store::global()
/// throws.
class CompileTimer {
 public:
  CompileTimer();
  ~CompileTimer();
  CompileTimer(const CompileTimer&) = delete;
  CompileTimer& operator=(const CompileTimer&) = delete;

 private:
  cache::Store& store_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Adds information on finished modules to a span of Phase::compile.
void tell(const ir::Span& span, std::span<const Making> makings);

}  // namespace heddle::runtime
