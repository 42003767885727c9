#include "runtime/host/kernel_compiler.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/common/printers.h"
#include "runtime/compile/compile_progress.h"
#include "runtime/compile/kept_sources.h"
#include "runtime/host/blocks/block_kernel.h"
#include "runtime/host/compiler.h"

namespace heddle::runtime::host {

namespace {

/// A program that loads an object with the system's loader: FILE.
constexpr const char* loader_program = R"(#include <dlfcn.h>
#include <iostream>

int main(int, char** words) {
  if (dlopen(words[1], RTLD_NOW) != nullptr) return 0;
  return std::cerr << dlerror() << '\n', 1;
}
)";

Options options_of(const CompileOptions& options) {
  Options result;
  result.contract = options.approximate && !options.strict;
  result.level = options.host_level;
  result.source_folder = source_folder();
  result.line_info = !result.source_folder.empty();
  return result;
}

class SystemCompiler final : public KernelCompiler {
 public:
  constexpr SystemCompiler()
      : KernelCompiler({.name = "host", .extension = ".cpp", .has_levels = true}) {}

  codegen::KernelSource print(const passes::KernelPlan& plan) const override {
    return codegen::print_host(plan);
  }
  const std::string& unavailable_reason() const override { return host::unavailable_reason(); }
  bool has_cheap_keys() const override { return true; }
  std::string identity(const CompileOptions& options, const ir::Target& target) const override {
    return host::identity(target, options_of(options));
  }
  std::string identity_prefix() const override {
    const Compiler* const found = find_compiler();
    if (found == nullptr) return {};
    return fmt::format("{} {}", found->clang ? "clang" : "gcc", found->version);
  }
  std::string title() const override { return find_compiler()->version; }
  void add_options(cache::KeyBuilder&, const CompileOptions&) const override {}
  std::string purpose(const ir::Target&) const override { return "for the CPU"; }

  std::string refusal_to_defer(const passes::KernelPlan& plan,
                               const ir::Target& target) const override {
    if (ReadyLoops::of(target) == nullptr)
      return fmt::format("there are no ready-made loops for {}", target.architecture);
    return BlockKernel::refusal(plan);
  }

  heddle_blocks::MapLoop elementwise_loop(ir::Op op, DType dtype,
                                          const ir::Target& target) const override {
    const ReadyLoops* const loops = ReadyLoops::of(target);
    return loops == nullptr ? nullptr : loops->map(op, dtype);
  }
  const heddle_blocks::ReductionLoops* reduction_loops(ir::Op op, DType dtype,
                                                       const ir::Target& target) const override {
    const ReadyLoops* const loops = ReadyLoops::of(target);
    return loops == nullptr ? nullptr : &loops->reduction(op, dtype);
  }

  std::size_t batch_size(std::size_t kernels) const override;
  void make(std::vector<Making>& makings, const CompileOptions& options, const ir::Target& target,
            Lookup lookup) const override;

  bool makes(cache::PayloadKind kind) const override {
    return kind == cache::PayloadKind::host_object;
  }
  std::optional<passes::KernelResources> resources(const ModuleImage&,
                                                   const std::string&) const override {
    return std::nullopt;
  }
  std::string describe_no_resources(const ir::Target&) const override {
    return "Registers and stack of kernels for the CPU are allocated by its compiler and are not "
           "counted.";
  }
  Reproduction reproduce_load(const ModuleImage& module) const override {
    return {{{"kernels.so", module.bytes}, {"reproduce.cpp", loader_program}},
            build_and_run("./kernels.so")};
  }
};

/// Kernels share compiler runs, because starting the compiler is expensive compared with compiling
/// one kernel. Runs must not be too long, or one processor works while the others wait. The size
/// depends only on the number of kernels, so that equal programs have equal modules on every
/// machine.
std::size_t SystemCompiler::batch_size(std::size_t kernels) const {
  constexpr std::size_t runs = 8, most = 16;
  return std::clamp<std::size_t>((kernels + runs - 1) / runs, 1, most);
}

void SystemCompiler::make(std::vector<Making>& makings, const CompileOptions& options,
                          const ir::Target& target, Lookup lookup) const {
  const ir::Span span(ir::Phase::compile, makings[0].kernels[0].name);
  std::vector<Making*> missing;
  std::vector<std::vector<Unit>> batches;
  std::size_t count = 0;
  for (Making& making : makings) {
    if (lookup == Lookup::cached && making.load()) continue;
    missing.push_back(&making);
    std::vector<Unit>& units = batches.emplace_back();
    for (const codegen::KernelSource& kernel : making.kernels)
      units.push_back({kernel.name, kernel.text()});
    count += units.size();
  }
  if (!missing.empty()) {
    CompileProgress progress(count);
    const CompileTimer timer;
    compile_batches(
        batches, target, options_of(options), [&](std::size_t index, std::string bytes) {
          missing[index]->save(cache::PayloadKind::host_object, std::move(bytes), options, target);
          progress.done(batches[index].size());
        });
  }
  tell(span, makings);
}

constinit const SystemCompiler compiler;

}  // namespace

const KernelCompiler& kernel_compiler() { return compiler; }

}  // namespace heddle::runtime::host
