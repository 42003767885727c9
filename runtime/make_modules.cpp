#include "runtime/make_modules.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "ir/span.h"
#include "runtime/cache/store.h"
#include "runtime/compile_progress.h"
#include "runtime/host_compiler.h"
#include "runtime/interrupt.h"
#include "runtime/kept_sources.h"
#include "runtime/nvrtc.h"
#include "runtime/thread_pool.h"

namespace heddle::runtime {

namespace {

using codegen::KernelSource;
using Kernels = std::span<const KernelSource>;

bool is_host(const ir::Target& target) { return target.kind == ir::TargetKind::host; }

nvrtc::Options nvrtc_options(const CompileOptions& options) {
  nvrtc::Options result;
  result.contract = !options.strict;
  result.approximate = options.approximate;
  result.source_folder = source_folder();
  result.line_info = !result.source_folder.empty();
  return result;
}

host::Options host_options(const CompileOptions& options) {
  host::Options result;
  result.contract = !options.strict;
  result.level = options.host_level;
  result.source_folder = source_folder();
  result.line_info = !result.source_folder.empty();
  return result;
}

class CompileTimer {
 public:
  ~CompileTimer() {
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start_;
    cache::Store::global().count_compile(spent.count());
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// A module on its way from the cache or its compiler.
struct Making {
  Making(Kernels kernels, const CompileOptions& options, const ir::Target& target)
      : kernels(kernels), key(module_key(kernels, options, target)) {
    image.entry = key.hash.hex();
    for (const KernelSource& kernel : kernels) {
      image.kernels.push_back(kernel.name);
      keep_source(kernel.name, is_host(target), kernel.text());
    }
  }

  /// Whether the cache had it.
  bool load() {
    std::optional<cache::Entry> entry = cache::Store::global().load(key);
    if (!entry) return false;
    image.kind = entry->kind;
    image.bytes = std::move(entry->payload);
    return true;
  }

  void save(cache::PayloadKind kind, std::string bytes, const CompileOptions& options,
            const ir::Target& target) {
    image.kind = kind;
    image.bytes = std::move(bytes);
    image.built = true;
    cache::Store::global().save(key, kind, entry_facts(image.kernels, options, target),
                                image.bytes);
  }

  Kernels kernels;
  cache::Key key;
  ModuleImage image;
};

void tell(const ir::Span& span, std::span<const Making> makings) {
  ir::SpanData* const told = span.data();
  if (told == nullptr) return;
  std::vector<std::string> names;
  bool built = false;
  for (const auto& [kernels, key, image] : makings) {
    names.insert(names.end(), image.kernels.begin(), image.kernels.end());
    built |= image.built;
    told->bytes += image.bytes.size();
  }
  told->name = fmt::format("{}", fmt::join(names, " "));
  told->source = built ? "compiled" : "disk";
}

/// Of a module that is one kernel.
void make_with_nvrtc(Making& making, const CompileOptions& options, const ir::Target& target,
                     Lookup lookup, CompileProgress& progress) {
  const ir::Span span(ir::Phase::compile, making.kernels[0].name);
  if (lookup == Lookup::anew || !making.load()) {
    check_interrupt();
    const CompileTimer timer;
    nvrtc::Binary binary = nvrtc::compile(making.kernels[0].text(), making.kernels[0].name,
                                          target.architecture, nvrtc_options(options));
    making.save(binary.kind == nvrtc::BinaryKind::cubin ? cache::PayloadKind::cubin
                                                        : cache::PayloadKind::ptx,
                std::move(binary.bytes), options, target);
  }
  progress.done(1);
  CompileProgress::refresh();
  tell(span, {&making, 1});
}

void make_with_nvrtc(std::vector<Making>& makings, const CompileOptions& options,
                     const ir::Target& target, Lookup lookup) {
  CompileProgress progress(makings.size());
  parallel_for(
      0, static_cast<std::int64_t>(makings.size()), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          make_with_nvrtc(makings[static_cast<std::size_t>(i)], options, target, lookup, progress);
      });
}

void make_on_host(std::vector<Making>& makings, const CompileOptions& options,
                  const ir::Target& target, Lookup lookup) {
  const ir::Span span(ir::Phase::compile, makings[0].kernels[0].name);
  std::vector<Making*> missing;
  std::vector<std::vector<host::Unit>> batches;
  std::size_t count = 0;
  for (Making& making : makings) {
    if (lookup == Lookup::cached && making.load()) continue;
    missing.push_back(&making);
    std::vector<host::Unit>& units = batches.emplace_back();
    for (const KernelSource& kernel : making.kernels) units.push_back({kernel.name, kernel.text()});
    count += units.size();
  }
  if (!missing.empty()) {
    CompileProgress progress(count);
    const CompileTimer timer;
    host::compile_batches(
        batches, target, host_options(options), [&](std::size_t index, std::string bytes) {
          missing[index]->save(cache::PayloadKind::host_object, std::move(bytes), options, target);
          progress.done(batches[index].size());
        });
  }
  tell(span, makings);
}

/// Kernels that go to a compiler together. A run of the host's compiler costs a third of what a
/// kernel does, and long ones keep the processors from ending together. Depends on the number of
/// kernels only, so that equal programs have equal modules everywhere.
std::size_t batch_size(std::size_t kernels, const ir::Target& target) {
  constexpr std::size_t runs = 8, most = 16;
  return is_host(target) ? std::clamp<std::size_t>((kernels + runs - 1) / runs, 1, most) : 1;
}

std::vector<Making> makings_of(Kernels kernels, const CompileOptions& options,
                               const ir::Target& target) {
  std::vector<Making> makings;
  const std::size_t size = batch_size(kernels.size(), target);
  for (std::size_t first = 0; first < kernels.size(); first += size) {
    makings.emplace_back(kernels.subspan(first, std::min(size, kernels.size() - first)), options,
                         target);
  }
  return makings;
}

}  // namespace

cache::Key module_key(Kernels kernels, const CompileOptions& options, const ir::Target& target) {
  cache::KeyBuilder key;
  key.add("kind", "module").add("architecture", target.architecture);
  key.add("compiler", compiler_identity(options, target));
  if (!is_host(target)) {
    key.add("options",
            fmt::format("{}", fmt::join(nvrtc::option_list(nvrtc_options(options)), " ")));
  }
  if (!source_folder().empty()) key.add("source folder", source_folder());
  for (const KernelSource& kernel : kernels) key.add("source", kernel.text());
  return key.finish();
}

std::string compiler_identity(const CompileOptions& options, const ir::Target& target) {
  return is_host(target) ? host::identity(target, host_options(options)) : nvrtc::version();
}

std::string entry_facts(const std::vector<std::string>& kernels, const CompileOptions& options,
                        const ir::Target& target) {
  return nlohmann::json({{"compiler", compiler_identity(options, target)}, {"kernels", kernels}})
      .dump();
}

std::vector<ModuleImage> make_modules(Kernels kernels, const CompileOptions& options,
                                      const ir::Target& target, Lookup lookup) {
  std::vector<Making> makings = makings_of(kernels, options, target);
  if (makings.empty()) return {};
  if (is_host(target)) {
    make_on_host(makings, options, target, lookup);
  } else {
    make_with_nvrtc(makings, options, target, lookup);
  }
  std::vector<ModuleImage> modules;
  for (Making& making : makings) modules.push_back(std::move(making.image));
  return modules;
}

std::string explain_missing_modules(Kernels kernels, const CompileOptions& options,
                                    const ir::Target& target) {
  cache::Store& store = cache::Store::global();
  for (const Making& making : makings_of(kernels, options, target)) {
    if (!store.load(making.key)) return store.explain_miss(making.key);
  }
  return {};
}

}  // namespace heddle::runtime
