#include "runtime/compile/make_modules.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "runtime/cache/store.h"
#include "runtime/compile/kept_sources.h"
#include "runtime/device/backend.h"

namespace heddle::runtime {

using codegen::KernelSource;
using Kernels = std::span<const KernelSource>;

CompileTimer::CompileTimer() : store_(cache::Store::global()) {}

CompileTimer::~CompileTimer() {
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start_;
  store_.count_compile(spent.count());
}

Making::Making(Kernels kernels_, const CompileOptions& options, const ir::Target& target)
    : kernels(kernels_), key(module_key(kernels_, options, target)) {
  image.entry = key.hash.hex();
  for (const KernelSource& kernel : kernels) {
    image.kernels.push_back(kernel.name);
    keep_source(kernel.name, compiler_of(target).language().extension, kernel.text());
  }
}

bool Making::load() {
  std::optional<cache::Entry> entry = cache::Store::global().load(key);
  if (!entry) return false;
  image.kind = entry->kind;
  image.bytes = std::move(entry->payload);
  return true;
}

void Making::save(cache::PayloadKind kind, std::string bytes, const CompileOptions& options,
                  const ir::Target& target) {
  image.kind = kind;
  image.bytes = std::move(bytes);
  image.built = true;
  cache::Store::global().save(key, kind, entry_facts(image.kernels, options, target), image.bytes);
}

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

namespace {

std::vector<Making> makings_of(Kernels kernels, const CompileOptions& options,
                               const ir::Target& target) {
  std::vector<Making> makings;
  const std::size_t size = compiler_of(target).batch_size(kernels.size());
  for (std::size_t first = 0; first < kernels.size(); first += size) {
    makings.emplace_back(kernels.subspan(first, std::min(size, kernels.size() - first)), options,
                         target);
  }
  return makings;
}

}  // namespace

const KernelCompiler& compiler_of(const ir::Target& target) {
  return backend_of(target).compiler();
}

cache::Key module_key(Kernels kernels, const CompileOptions& options, const ir::Target& target) {
  cache::KeyBuilder key;
  key.add("kind", "module").add("architecture", target.architecture);
  key.add("compiler", compiler_identity(options, target));
  compiler_of(target).add_options(key, options);
  if (!source_folder().empty()) key.add("source folder", source_folder());
  for (const KernelSource& kernel : kernels) key.add("source", kernel.text());
  return key.finish();
}

std::string compiler_identity(const CompileOptions& options, const ir::Target& target) {
  return compiler_of(target).identity(options, target);
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
  compiler_of(target).make(makings, options, target, lookup);
  std::vector<ModuleImage> modules;
  for (Making& making : makings) modules.push_back(std::move(making.image));
  return modules;
}

bool has_modules(Kernels kernels, const CompileOptions& options, const ir::Target& target) {
  return std::ranges::all_of(makings_of(kernels, options, target), [](const Making& making) {
    return cache::Store::global().has(making.key);
  });
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
