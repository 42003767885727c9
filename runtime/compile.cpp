#include "runtime/compile.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <unordered_set>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "heddle/error.h"

#include "codegen/embedded.h"
#include "codegen/printers.h"
#include "ir/dump.h"
#include "ir/span.h"
#include "ir/split.h"
#include "passes/explain.h"
#include "passes/program_builder.h"
#include "runtime/cache/store.h"
#include "runtime/compile_error.h"
#include "runtime/host_compiler.h"
#include "runtime/kept_sources.h"
#include "runtime/log.h"
#include "runtime/nvrtc.h"
#include "runtime/reproducer.h"
#include "runtime/thread_pool.h"

namespace heddle::runtime {

namespace {

using codegen::KernelSource;

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

/// What an entry was built by, which `heddle cache verify` compares with what is here now, and the
/// kernels that it holds.
std::string facts_of(const std::vector<std::string>& kernels, const CompileOptions& options,
                     const ir::Target& target) {
  const std::string compiler =
      is_host(target) ? host::identity(target, host_options(options)) : nvrtc::version();
  return nlohmann::json({{"compiler", compiler}, {"kernels", kernels}}).dump();
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

ModuleImage build(std::span<const KernelSource> kernels, const CompileOptions& options,
                  const ir::Target& target) {
  const CompileTimer timer;
  ModuleImage image;
  if (is_host(target)) {
    std::vector<host::Unit> units;
    for (const KernelSource& kernel : kernels) units.push_back({kernel.name, kernel.text()});
    image.kind = cache::PayloadKind::host_object;
    image.bytes = host::compile(units, target, host_options(options));
    return image;
  }
  nvrtc::Binary binary = nvrtc::compile(kernels[0].text(), kernels[0].name, target.architecture,
                                        nvrtc_options(options));
  image.kind =
      binary.kind == nvrtc::BinaryKind::cubin ? cache::PayloadKind::cubin : cache::PayloadKind::ptx;
  image.bytes = std::move(binary.bytes);
  return image;
}

enum class Lookup : std::uint8_t { cached, anew };

ModuleImage module_of(std::span<const KernelSource> kernels, const CompileOptions& options,
                      const ir::Target& target, Lookup lookup) {
  const ir::Span span(ir::Phase::compile, kernels[0].name);
  cache::Store& store = cache::Store::global();
  const cache::Key key = module_key(kernels, options, target);
  ModuleImage image;
  for (const KernelSource& kernel : kernels) {
    image.kernels.push_back(kernel.name);
    if (!source_folder().empty()) keep_source(kernel.name, is_host(target), kernel.text());
  }
  std::optional<cache::Entry> entry;
  if (lookup == Lookup::cached) entry = store.load(key);
  if (entry) {
    image.kind = entry->kind;
    image.bytes = std::move(entry->payload);
  } else {
    ModuleImage built = build(kernels, options, target);
    image.kind = built.kind;
    image.bytes = std::move(built.bytes);
    image.built = true;
    store.save(key, image.kind, facts_of(image.kernels, options, target), image.bytes);
  }
  image.entry = key.hash.hex();
  if (ir::SpanData* const told = span.data()) {
    told->name = fmt::format("{}", fmt::join(image.kernels, " "));
    told->source = image.built ? "compiled" : "disk";
    told->bytes = image.bytes.size();
  }
  return image;
}

int read_host_level() {
  const int most = CompileOptions().host_level;
  const char* const text = std::getenv("HEDDLE_CXX_LEVEL");
  if (text == nullptr || *text == '\0') return most;
  if (*text >= '0' && *text <= '0' + most && text[1] == '\0') return *text - '0';
  log().warn("HEDDLE_CXX_LEVEL='{}' is not a number from 0 to {}; it is ignored", text, most);
  return most;
}

}  // namespace

CompileOptions with_environment(CompileOptions options) {
  const char* disabled = std::getenv("HEDDLE_DISABLE");
  for (const std::string_view name : ir::split(disabled != nullptr ? disabled : "", ','))
    options.disabled.emplace_back(name);
  std::sort(options.disabled.begin(), options.disabled.end());
  static const int level = read_host_level();
  options.host_level = std::min(options.host_level, level);
  return options;
}

cache::Key program_key(const ir::Graph& graph, const CompileOptions& options,
                       const ir::Target& target) {
  ir::Graph nameless = graph;
  nameless.name = "main";
  // Flags that were left out are the same program as their defaults spelled out.
  const auto bits = [&](const std::vector<bool>& flags, bool otherwise) {
    std::string text;
    for (std::size_t i = 0; i < graph.parameters().size(); ++i) {
      text += (i < flags.size() ? flags[i] : otherwise) ? '1' : '0';
    }
    return text;
  };
  cache::KeyBuilder key;
  key.add("kind", "program").add("heddle", codegen::source_fingerprint());
  key.add("target", to_string(target)).add("graph", ir::print(nameless));
  key.add("donated", bits(options.donated, false)).add("aligned", bits(options.aligned, true));
  key.add("strict", options.strict).add("approximate", options.approximate);
  if (is_host(target)) key.add("level", options.host_level);
  key.add("disabled", fmt::format("{}", fmt::join(options.disabled, ",")));
  if (!source_folder().empty()) key.add("source folder", source_folder());
  return key.finish();
}

cache::Key module_key(std::span<const KernelSource> kernels, const CompileOptions& options,
                      const ir::Target& target) {
  cache::KeyBuilder key;
  key.add("kind", "module").add("architecture", target.architecture);
  if (is_host(target)) {
    key.add("compiler", host::identity(target, host_options(options)));
  } else {
    key.add("compiler", nvrtc::version());
    key.add("options",
            fmt::format("{}", fmt::join(nvrtc::option_list(nvrtc_options(options)), " ")));
  }
  if (!source_folder().empty()) key.add("source folder", source_folder());
  for (const KernelSource& kernel : kernels) key.add("source", kernel.text());
  return key.finish();
}

passes::PlanOptions plan_options(const CompileOptions& options, const ir::Target& target) {
  return {target,           options.donated, options.aligned,
          options.disabled, options.strict,  options.approximate};
}

KernelSource print_kernel(const passes::KernelPlan& plan, const ir::Target& target) {
  const ir::Span span(ir::Phase::codegen, plan.name);
  KernelSource source = is_host(target) ? codegen::print_host(plan) : codegen::print_cuda(plan);
  if (span.data() != nullptr) span.data()->name = source.name;
  return source;
}

bool compiling_is_forbidden() {
  const char* const text = std::getenv("HEDDLE_NO_COMPILE");
  return text != nullptr && std::string_view(text) == "1";
}

PrintedProgram print_program(const ir::Graph& graph, const CompileOptions& options,
                             const ir::Target& target) {
  passes::PlannedProgram planned = passes::plan_program(graph, plan_options(options, target));
  PrintedProgram printed;
  std::unordered_set<std::string> known;
  for (std::size_t i = 0; i < planned.kernels.size(); ++i) {
    KernelSource source = print_kernel(planned.kernels[i], target);
    ir::dump("plan", source.name, [&] { return passes::to_string(planned.kernels[i]); });
    ir::dump(is_host(target) ? "host" : "cuda", source.name, [&] { return source.text(); });
    planned.program.kernel_names[i] = source.name;
    if (known.insert(source.name).second) printed.kernels.push_back(std::move(source));
  }
  ir::dump("groups", graph.name, [&] { return passes::explain(planned); });
  printed.program = std::move(planned.program);
  ir::dump("program", graph.name, [&] { return passes::to_json(printed.program); });
  return printed;
}

namespace {

std::vector<ModuleImage> make_modules(const std::vector<KernelSource>& kernels,
                                      const CompileOptions& options, const ir::Target& target,
                                      Lookup lookup) {
  if (kernels.empty()) return {};
  // The host's compiler takes longer to start than to compile a kernel, so it gets them together.
  if (is_host(target)) return {module_of(kernels, options, target, lookup)};
  std::vector<ModuleImage> modules(kernels.size());
  parallel_for(0, static_cast<std::int64_t>(kernels.size()), 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i)
                   modules[i] = module_of({&kernels[i], 1}, options, target, lookup);
               });
  return modules;
}

/// Throws CompileError where the kernels of a program, which is not in the cache, are not there
/// either. A GPU's are not looked for: a module's key names its compiler, so that NVRTC would be
/// loaded.
void require_modules(std::span<const KernelSource> kernels, const ir::Graph& graph,
                     const CompileOptions& options, const ir::Target& target, Lookup lookup) {
  cache::Store& store = cache::Store::global();
  std::string modules;
  if (is_host(target)) {
    const cache::Key key = module_key(kernels, options, target);
    if (lookup == Lookup::cached && store.load(key)) return;
    modules = "; of its kernels: " + store.explain_miss(key);
  }
  throw CompileError(fmt::format(
      "HEDDLE_NO_COMPILE=1, and program {}, of {}, is not in the cache: {}{}", graph.name,
      kernels[0].name, store.explain_miss(program_key(graph, options, target)), modules));
}

/// A program without kernels of its own asks no compiler.
std::string facts_of(const ProgramImage& image, const CompileOptions& options,
                     const ir::Target& target) {
  std::vector<std::string> kernels;
  for (const ModuleImage& module : image.modules)
    kernels.insert(kernels.end(), module.kernels.begin(), module.kernels.end());
  return image.modules.empty() ? "{}" : facts_of(kernels, options, target);
}

ProgramImage make_program(const ir::Graph& graph, const CompileOptions& options,
                          const ir::Target& target, Lookup lookup) {
  PrintedProgram printed = print_program(graph, options, target);
  if (compiling_is_forbidden() && !printed.kernels.empty())
    require_modules(printed.kernels, graph, options, target, lookup);
  ProgramImage image{std::move(printed.program), {}};
  try {
    image.modules = make_modules(printed.kernels, options, target, lookup);
  } catch (const CompileFailure& failure) {
    const std::string text = failure.what() + lines_of_kernel(graph, image.program, failure.kernel);
    throw CompileError(text + write_reproducer(failure.kernel, failure.reproduction,
                                               {graph, options}, target, text));
  }
  cache::Store::global().save(program_key(graph, options, target), cache::PayloadKind::program,
                              facts_of(image, options, target), encode(image));
  return image;
}

}  // namespace

std::vector<ModuleImage> compile_kernels(const std::vector<KernelSource>& kernels,
                                         const CompileOptions& options, const ir::Target& target) {
  return make_modules(kernels, options, target, Lookup::cached);
}

ProgramImage compile_program(const ir::Graph& graph, const CompileOptions& options,
                             const ir::Target& target) {
  static const bool rebuild = std::getenv("HEDDLE_REBUILD") != nullptr &&
                              std::string_view(std::getenv("HEDDLE_REBUILD")) == "1";
  if (rebuild) return recompile_program(graph, options, target);
  cache::Store& store = cache::Store::global();
  const cache::Key key = program_key(graph, options, target);
  if (std::optional<cache::Entry> entry = store.load(key)) {
    try {
      const ir::Span span(ir::Phase::compile, graph.name);
      if (ir::SpanData* const told = span.data()) {
        told->source = "disk";
        told->bytes = entry->payload.size();
      }
      return decode_program_image(entry->payload);
    } catch (const ParseError&) {
      store.discard(key);
    }
  }
  return make_program(graph, options, target, Lookup::cached);
}

std::string describe_refusal(const LoadFailure& failure, const ir::Graph& graph,
                             const CompileOptions& options, const ir::Target& target) {
  const PrintedProgram printed = print_program(graph, options, target);
  Reproduction reproduction = load_reproduction(failure.module);
  std::string text = fmt::format(
      "{} This is code of {}, compiled {} by {}.\n", failure.what(),
      fmt::join(failure.module.kernels, ", "),
      is_host(target) ? "for the CPU" : "for " + target.architecture,
      is_host(target) ? host::identity(target, host_options(options)) : nvrtc::version());
  for (const KernelSource& kernel : printed.kernels) {
    if (std::ranges::find(failure.module.kernels, kernel.name) == failure.module.kernels.end())
      continue;
    reproduction.files.push_back({kernel.name + (is_host(target) ? ".cpp" : ".cu"), kernel.text()});
    text += lines_of_kernel(graph, printed.program, kernel.name) + "Source:\n" +
            number_lines(kernel.text());
  }
  return text + write_reproducer(failure.module.kernels.front(), std::move(reproduction),
                                 {graph, options}, target, text);
}

std::string program_entry(const ir::Graph& graph, const CompileOptions& options,
                          const ir::Target& target) {
  const ProgramImage image = compile_program(graph, options, target);
  return cache::encode({cache::PayloadKind::program, program_key(graph, options, target).text,
                        facts_of(image, options, target), encode(image)});
}

ProgramImage recompile_program(const ir::Graph& graph, const CompileOptions& options,
                               const ir::Target& target) {
  return make_program(graph, options, target, Lookup::anew);
}

}  // namespace heddle::runtime
