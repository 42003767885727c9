#include "runtime/cuda/kernel_compiler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/common/printers.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/thread_pool.h"
#include "runtime/compile/compile_progress.h"
#include "runtime/compile/kept_sources.h"
#include "runtime/cuda/cubin.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/cuda/reproduction.h"

namespace heddle::runtime::cuda {

namespace {

nvrtc::Options options_of(const CompileOptions& options) {
  nvrtc::Options result;
  result.contract = !options.strict;
  result.approximate = options.approximate;
  result.source_folder = source_folder();
  result.line_info = !result.source_folder.empty();
  return result;
}

class NvrtcCompiler final : public KernelCompiler {
 public:
  constexpr NvrtcCompiler() : KernelCompiler({.name = "cuda", .extension = ".cu"}) {}

  codegen::KernelSource print(const passes::KernelPlan& plan) const override {
    return codegen::print_cuda(plan);
  }
  const std::string& unavailable_reason() const override { return nvrtc::unavailable_reason(); }
  bool has_cheap_keys() const override { return false; }
  std::string identity(const CompileOptions&, const ir::Target&) const override {
    return nvrtc::version();
  }
  std::string identity_prefix() const override {
    return nvrtc::available() ? nvrtc::version() : std::string();
  }
  std::string title() const override { return "NVRTC " + nvrtc::version(); }
  void add_options(cache::KeyBuilder& key, const CompileOptions& options) const override {
    key.add("options", fmt::format("{}", fmt::join(nvrtc::option_list(options_of(options)), " ")));
  }
  std::string purpose(const ir::Target& target) const override {
    return "for " + target.architecture;
  }

  std::string refusal_to_defer(const passes::KernelPlan&, const ir::Target&) const override {
    return "kernels for GPUs are compiled at once";
  }

  /// One kernel per module, so that NVRTC runs on as many threads as there are kernels.
  heddle_blocks::MapLoop elementwise_loop(ir::Op, DType, const ir::Target&) const override {
    return nullptr;
  }
  const heddle_blocks::ReductionLoops* reduction_loops(ir::Op, DType,
                                                       const ir::Target&) const override {
    return nullptr;
  }

  std::size_t batch_size(std::size_t) const override { return 1; }
  void make(std::vector<Making>& makings, const CompileOptions& options, const ir::Target& target,
            Lookup lookup) const override;

  bool makes(cache::PayloadKind kind) const override {
    return kind == cache::PayloadKind::cubin || kind == cache::PayloadKind::ptx;
  }
  std::optional<passes::KernelResources> resources(const ModuleImage& module,
                                                   const std::string& kernel) const override {
    if (module.kind != cache::PayloadKind::cubin) return std::nullopt;
    return read_cubin(module.bytes, kernel);
  }
  std::string describe_no_resources(const ir::Target& target) const override {
    return fmt::format(
        "Registers and memory are not known: {} makes PTX for {}, which the driver compiles.",
        title(), target.architecture);
  }
  Reproduction reproduce_load(const ModuleImage& module) const override {
    return driver_reproduction(module);
  }
};

/// Makes a module of one kernel.
void make_one(Making& making, const CompileOptions& options, const ir::Target& target,
              Lookup lookup, CompileProgress& progress) {
  const ir::Span span(ir::Phase::compile, making.kernels[0].name);
  if (lookup == Lookup::anew || !making.load()) {
    check_interrupt();
    const CompileTimer timer;
    nvrtc::Binary binary = nvrtc::compile(making.kernels[0].text(), making.kernels[0].name,
                                          target.architecture, options_of(options));
    making.save(binary.kind == nvrtc::BinaryKind::cubin ? cache::PayloadKind::cubin
                                                        : cache::PayloadKind::ptx,
                std::move(binary.bytes), options, target);
  }
  progress.done(1);
  CompileProgress::refresh();
  tell(span, {&making, 1});
}

void NvrtcCompiler::make(std::vector<Making>& makings, const CompileOptions& options,
                         const ir::Target& target, Lookup lookup) const {
  CompileProgress progress(makings.size());
  parallel_for(
      0, static_cast<std::int64_t>(makings.size()), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          make_one(makings[static_cast<std::size_t>(i)], options, target, lookup, progress);
      });
}

constinit const NvrtcCompiler compiler;

}  // namespace

const KernelCompiler& kernel_compiler() { return compiler; }

}  // namespace heddle::runtime::cuda
