#include "runtime/compile.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_set>

#include <fmt/ranges.h>

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
#include "runtime/kept_sources.h"
#include "runtime/log.h"
#include "runtime/make_modules.h"
#include "runtime/reproducer.h"

namespace heddle::runtime {

namespace {

using codegen::KernelSource;

bool is_host(const ir::Target& target) { return target.kind == ir::TargetKind::host; }

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

/// Throws CompileError where the kernels of a program, which is not in the cache, are not there
/// either. A GPU's are not looked for: a module's key names its compiler, so that NVRTC would be
/// loaded.
void require_modules(const std::vector<KernelSource>& kernels, const ir::Graph& graph,
                     const CompileOptions& options, const ir::Target& target, Lookup lookup) {
  std::string modules;
  if (is_host(target)) {
    const std::string missing = explain_missing_modules(kernels, options, target);
    if (lookup == Lookup::cached && missing.empty()) return;
    modules = "; of its kernels: " + missing;
  }
  const cache::Key key = program_key(graph, options, target);
  throw CompileError(
      fmt::format("HEDDLE_NO_COMPILE=1, and program {}, of {}, is not in the cache: {}{}",
                  graph.name, kernels[0].name, cache::Store::global().explain_miss(key), modules));
}

/// A program without kernels of its own asks no compiler.
std::string facts_of(const ProgramImage& image, const CompileOptions& options,
                     const ir::Target& target) {
  std::vector<std::string> kernels;
  for (const ModuleImage& module : image.modules)
    kernels.insert(kernels.end(), module.kernels.begin(), module.kernels.end());
  return image.modules.empty() ? "{}" : entry_facts(kernels, options, target);
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
  std::string text = fmt::format("{} This is code of {}, compiled {} by {}.\n", failure.what(),
                                 fmt::join(failure.module.kernels, ", "),
                                 is_host(target) ? "for the CPU" : "for " + target.architecture,
                                 compiler_identity(options, target));
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
