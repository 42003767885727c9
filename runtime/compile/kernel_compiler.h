#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// A module on its way from the cache or its compiler.
struct Making {
  /// Of kernels that go to the compiler together. Refers to them. Throws DeviceError when there is
  /// no compiler.
  Making(std::span<const codegen::KernelSource> kernels, const CompileOptions& options,
         const ir::Target& target);

  /// Whether the cache had it.
  bool load();
  void save(cache::PayloadKind kind, std::string bytes, const CompileOptions& options,
            const ir::Target& target);

  std::span<const codegen::KernelSource> kernels;
  cache::Key key;
  ModuleImage image;
};

/// The language that a backend's kernels are printed in.
struct Language {
  std::string_view name;       ///< "cuda" or "host", as HEDDLE_DUMP knows it
  std::string_view extension;  ///< of source files
  bool has_levels = false;     ///< CompileOptions::host_level is for its compiler
};

/// Prints a backend's kernels and compiles them. One object for each backend, which lives for ever.
/// Thread-safe.
class KernelCompiler {
 public:
  KernelCompiler(const KernelCompiler&) = delete;
  KernelCompiler& operator=(const KernelCompiler&) = delete;

  const Language& language() const { return language_; }
  virtual codegen::KernelSource print(const passes::KernelPlan& plan) const = 0;

  /// Why nothing can be compiled here; empty where it can. Looks for the compiler; never throws.
  virtual const std::string& unavailable_reason() const = 0;
  /// Whether keys of modules cost little: no library is loaded for them.
  virtual bool has_cheap_keys() const = 0;
  /// The compiler and its version; where it matters, how it is called. Throws DeviceError when
  /// there is no compiler.
  virtual std::string identity(const CompileOptions& options, const ir::Target& target) const = 0;
  /// How the identities of this machine's compiler begin; empty when there is none.
  virtual std::string identity_prefix() const = 0;
  /// As reports name it. Throws DeviceError when there is no compiler.
  virtual std::string title() const = 0;
  /// Options that the identity does not say, for the key of a module.
  virtual void add_options(cache::KeyBuilder& key, const CompileOptions& options) const = 0;
  /// "for sm_90", or "for the CPU".
  virtual std::string purpose(const ir::Target& target) const = 0;

  /// How many of so many kernels go to the compiler together.
  virtual std::size_t batch_size(std::size_t kernels) const = 0;
  /// Gives each module its machine code. Compiles in parallel. Throws CompileError, Interrupted.
  virtual void make(std::vector<Making>& makings, const CompileOptions& options,
                    const ir::Target& target, Lookup lookup) const = 0;

  /// Whether this is what the compiler makes.
  virtual bool makes(cache::PayloadKind kind) const = 0;
  /// What the machine code of a kernel needs; nullopt where it does not say.
  virtual std::optional<passes::KernelResources> resources(const ModuleImage& module,
                                                           const std::string& kernel) const = 0;
  /// Why resources() is empty.
  virtual std::string describe_no_resources(const ir::Target& target) const = 0;
  /// Loads a module as it was refused.
  virtual Reproduction reproduce_load(const ModuleImage& module) const = 0;

 protected:
  constexpr explicit KernelCompiler(const Language& language) : language_(language) {}
  ~KernelCompiler() = default;

 private:
  Language language_;
};

/// Adds the time that it lives to the cache's statistics. Throws what Store::global() throws.
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

/// What a span of Phase::compile is told of finished modules.
void tell(const ir::Span& span, std::span<const Making> makings);

}  // namespace heddle::runtime
