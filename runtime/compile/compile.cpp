#include "runtime/compile/compile.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include <fmt/ranges.h>

#include "heddle/error.h"

#include "codegen/common/embedded.h"
#include "ir/base/dump.h"
#include "ir/base/environment.h"
#include "ir/base/span.h"
#include "ir/types/capabilities.h"
#include "passes/pipeline/launch_tables.h"
#include "passes/pipeline/pipeline.h"
#include "passes/pipeline/program_builder.h"
#include "passes/pipeline/shared_kernels.h"
#include "passes/report/explain.h"
#include "runtime/base/log.h"
#include "runtime/cache/store.h"
#include "runtime/compile/compile_error.h"
#include "runtime/compile/deferred.h"
#include "runtime/compile/kept_sources.h"
#include "runtime/compile/make_modules.h"
#include "runtime/compile/reproducer.h"

namespace heddle::runtime {

namespace {

using codegen::KernelSource;

}  // namespace

CompileOptions with_environment(CompileOptions options) {
  const std::vector<std::string> disabled = ir::names(ir::Variable::disable);
  passes::require_switches(disabled, ir::info(ir::Variable::disable).name);
  options.disabled.insert(options.disabled.end(), disabled.begin(), disabled.end());
  std::sort(options.disabled.begin(), options.disabled.end());
  static const auto level =
      static_cast<int>(ir::number(ir::Variable::cxx_level).value_or(CompileOptions().host_level));
  options.host_level = std::min(options.host_level, level);
  return options;
}

cache::Key program_key(const ir::Graph& graph, const CompileOptions& options,
                       const ir::Target& target) {
  ir::Graph nameless = graph;
  nameless.name = "main";
  // Omitted flags give the same key as explicit default values.
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
  if (compiler_of(target).language().has_levels) key.add("level", options.host_level);
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
  KernelSource source = compiler_of(target).print(plan);
  if (span.data() != nullptr) span.data()->name = source.name;
  return source;
}

passes::PlannedProgram plan_kernels(const ir::Graph& graph, const passes::PlanOptions& options,
                                    const passes::PassObserver& observer) {
  passes::PlannedProgram planned = passes::plan_program(graph, options, observer);
  const KernelCompiler& compiler = compiler_of(options.target);
  passes::share_kernels(planned, options,
                        [&](const passes::KernelPlan& plan) { return compiler.print(plan).body; });
  passes::form_launch_tables(planned, options);
  return planned;
}

std::vector<KernelSource> print_kernels(passes::PlannedProgram& planned, const ir::Target& target) {
  std::vector<KernelSource> sources;
  std::unordered_map<std::uint32_t, std::size_t> printed;
  for (std::size_t i = 0; i < planned.kernels.size(); ++i) {
    const std::optional<std::uint32_t> shared = planned.shared_kernel(i);
    const auto known = shared ? printed.try_emplace(*shared, i).first->second : i;
    sources.push_back(known < i ? sources[known] : print_kernel(planned.printed(i), target));
    planned.program.kernel_names[i] = sources.back().name;
  }
  return sources;
}

bool compiling_is_forbidden() { return ir::flag(ir::Variable::no_compile, false); }

PrintedProgram print_program(const ir::Graph& graph, const CompileOptions& options,
                             const ir::Target& target) {
  passes::PlannedProgram planned = plan_kernels(graph, plan_options(options, target));
  PrintedProgram printed;
  const Language& language = compiler_of(target).language();
  std::unordered_set<std::string> known;
  std::vector<KernelSource> sources = print_kernels(planned, target);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    KernelSource& source = sources[i];
    if (!known.insert(source.name).second) continue;
    ir::dump("plan", source.name, [&] { return passes::to_string(planned.printed(i)); });
    ir::dump(language.name, source.name, [&] { return source.text(); });
    printed.kernels.push_back(std::move(source));
  }
  ir::dump("groups", graph.name, [&] { return passes::explain(planned); });
  printed.program = std::move(planned.program);
  ir::dump("program", graph.name, [&] { return passes::to_json(printed.program); });
  return printed;
}

namespace {

/// Throws CompileError because a program is not in the cache and compiling is forbidden, unless all
/// its kernels' modules are in the cache. Modules are looked up only if their keys are cheap: a key
/// names the compiler, which might have to be loaded.
void require_modules(const std::vector<KernelSource>& kernels, const ir::Graph& graph,
                     const CompileOptions& options, const ir::Target& target, Lookup lookup) {
  std::string modules;
  if (compiler_of(target).has_cheap_keys()) {
    const std::string missing = explain_missing_modules(kernels, options, target);
    if (lookup == Lookup::cached && missing.empty()) return;
    modules = "; modules of its kernels: " + missing;
  }
  const cache::Key key = program_key(graph, options, target);
  throw CompileError(
      fmt::format("HEDDLE_NO_COMPILE=1, but program {} (kernel {}) is not in the cache: {}{}",
                  graph.name, kernels[0].name, cache::Store::global().explain_miss(key), modules));
}

/// Does not query the compiler if the program has no kernels of its own.
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

namespace {

/// Decodes the entry of a key; nullopt if there is none. A damaged entry is deleted.
std::optional<ProgramImage> decode(const cache::Key& key, std::optional<cache::Entry> entry,
                                   const std::string& name) {
  if (!entry) return std::nullopt;
  try {
    const ir::Span span(ir::Phase::compile, name);
    if (ir::SpanData* const told = span.data()) {
      told->source = "disk";
      told->bytes = entry->payload.size();
    }
    return decode_program_image(entry->payload);
  } catch (const ParseError&) {
    cache::Store::global().discard(key);
    return std::nullopt;
  }
}

std::vector<ir::Target> others(const ir::Target& target, Entries entries) {
  return entries == Entries::compatible ? ir::targets_below(target) : std::vector<ir::Target>();
}

/// The image in the cache, if there is one. `key` is the program's.
std::optional<ProgramImage> cached_image(const cache::Key& key, const ir::Graph& graph,
                                         const CompileOptions& options, const ir::Target& target,
                                         Entries entries) {
  cache::Store& store = cache::Store::global();
  if (auto image = decode(key, store.load(key), graph.name)) return image;
  for (const ir::Target& other : others(target, entries)) {
    const cache::Key instead = program_key(graph, options, other);
    if (auto image = decode(instead, store.load_instead(instead), graph.name)) {
      log().debug("program {} is loaded from the entry of {}, because there is none of {}",
                  graph.name, other.architecture, target.architecture);
      return image;
    }
  }
  return std::nullopt;
}

bool rebuilds() {
  static const bool rebuild = ir::flag(ir::Variable::rebuild, false);
  return rebuild;
}

/// HEDDLE_COMPILE_AFTER in nanoseconds; 0: compile at once.
double compile_after() {
  constexpr double nanoseconds = 1e6;
  constexpr std::int64_t milliseconds = 150;
  static const auto given = ir::number(ir::Variable::compile_after);
  return nanoseconds * static_cast<double>(given.value_or(milliseconds));
}

/// The work, in nanoseconds, after which compiling kernels of so many instructions has paid: the
/// time that it takes, about. Less if an earlier process has run the program too, since a later one
/// may run it again.
double worth_compiling(std::size_t kernels, std::size_t instructions, const cache::Key& key) {
  constexpr double a_kernel = 50e6, an_instruction = 5e6, when_run_before = 0.1;
  const double worth = compile_after() + a_kernel * static_cast<double>(kernels - 1) +
                       an_instruction * static_cast<double>(instructions);
  cache::Store& store = cache::Store::global();
  cache::KeyBuilder builder;
  builder.add("kind", "uncompiled").add("program", key.text);
  const cache::Key mark = builder.finish();
  if (store.has(mark)) return when_run_before * worth;
  store.save(mark, cache::PayloadKind::uncompiled, "{}", "");
  return worth;
}

/// Whether a program runs loops, whose steps are not counted before they have run.
bool has_loops(const passes::Program& program) {
  return std::ranges::any_of(program.steps, [](const passes::Step& step) {
    return step.call() != nullptr && !step.call()->bodies.empty();
  });
}

void warn_of_no_compiler(const KernelCompiler& compiler) {
  static std::once_flag warned;
  std::call_once(warned, [&] {
    log().warn("{} Until then kernels run uncompiled, which is slower.",
               compiler.unavailable_reason());
  });
}

/// compile_program() for a program that was not in the cache when it began to run uncompiled:
/// another process may have compiled it since. That miss is not counted again.
ProgramImage compile_later(const ir::Graph& graph, const CompileOptions& options,
                           const ir::Target& target) {
  const cache::Key key = program_key(graph, options, target);
  if (auto image = decode(key, cache::Store::global().load_instead(key), graph.name))
    return *std::move(image);
  return make_program(graph, options, target, Lookup::cached);
}

/// Whether the modules of these kernels are in the cache, because another program has the same.
bool are_compiled(std::span<const KernelSource> kernels, const CompileOptions& options,
                  const ir::Target& target) {
  const KernelCompiler& compiler = compiler_of(target);
  return compiler.has_cheap_keys() && compiler.unavailable_reason().empty() &&
         has_modules(kernels, options, target);
}

/// A program whose kernels run uncompiled, as far as they can. nullopt if none of them can, and for
/// programs with loops, and if all kernels are compiled already. `key` is the program's.
std::optional<ProgramImage> deferred_image(const cache::Key& key, const ir::Graph& graph,
                                           const CompileOptions& options,
                                           const ir::Target& target) {
  const KernelCompiler& compiler = compiler_of(target);
  auto deferred = std::make_shared<Deferred>();
  deferred->target = target;
  deferred->planned = plan_kernels(graph, plan_options(options, target));
  passes::PlannedProgram& planned = deferred->planned;
  if (has_loops(planned.program)) return std::nullopt;
  std::vector<KernelSource> sources = print_kernels(planned, target), distinct, wanted;
  std::unordered_set<std::string> known;
  std::size_t kernels = 0, instructions = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const passes::KernelPlan& plan = planned.printed(i);
    const bool is_deferred = compiler.refusal_to_defer(plan, target).empty();
    deferred->uncompiled.push_back(is_deferred);
    if (!known.insert(sources[i].name).second) continue;
    distinct.push_back(std::move(sources[i]));
    if (!is_deferred) {
      wanted.push_back(distinct.back());
      continue;
    }
    ++kernels;
    instructions += plan.body.size();
  }
  if (kernels == 0 || are_compiled(distinct, options, target)) return std::nullopt;
  deferred->worth = worth_compiling(kernels, instructions, key);
  deferred->compile = [=, &compiler](Lookup lookup) -> std::optional<ProgramImage> {
    if (!compiler.unavailable_reason().empty()) {
      warn_of_no_compiler(compiler);
      return std::nullopt;
    }
    return lookup == Lookup::anew ? recompile_program(graph, options, target)
                                  : compile_later(graph, options, target);
  };
  ProgramImage image{planned.program, {}, std::move(deferred)};
  if (!wanted.empty()) image.modules = make_modules(wanted, options, target, Lookup::cached);
  return image;
}

}  // namespace

ProgramImage compile_program(const ir::Graph& graph, const CompileOptions& options,
                             const ir::Target& target, Entries entries) {
  if (rebuilds()) return recompile_program(graph, options, target);
  const cache::Key key = program_key(graph, options, target);
  if (auto image = cached_image(key, graph, options, target, entries)) return *std::move(image);
  return make_program(graph, options, target, Lookup::cached);
}

bool may_run_uncompiled(const CompileOptions& options, const ir::Target& target) {
  return options.deferred && !ir::capabilities_of(target).blocks && compile_after() > 0 &&
         !compiling_is_forbidden();
}

ProgramImage prepare_program(const ir::Graph& graph, const CompileOptions& options,
                             const ir::Target& target, Entries entries) {
  if (rebuilds()) return recompile_program(graph, options, target);
  const cache::Key key = program_key(graph, options, target);
  if (auto image = cached_image(key, graph, options, target, entries)) return *std::move(image);
  if (may_run_uncompiled(options, target)) {
    if (auto image = deferred_image(key, graph, options, target)) return *std::move(image);
  }
  return make_program(graph, options, target, Lookup::cached);
}

std::optional<cache::Key> cached_program_key(const ir::Graph& graph, const CompileOptions& options,
                                             const ir::Target& target, Entries entries) {
  cache::Store& store = cache::Store::global();
  cache::Key key = program_key(graph, options, target);
  if (store.load(key)) return key;
  for (const ir::Target& other : others(target, entries)) {
    key = program_key(graph, options, other);
    if (store.load_instead(key)) return key;
  }
  return std::nullopt;
}

std::string describe_refusal(const LoadFailure& failure, const ir::Graph& graph,
                             const CompileOptions& options, const ir::Target& target) {
  const PrintedProgram printed = print_program(graph, options, target);
  const KernelCompiler& compiler = compiler_of(target);
  Reproduction reproduction = compiler.reproduce_load(failure.module);
  std::string text = fmt::format("{} This is code of {}, compiled {} by {}.\n", failure.what(),
                                 fmt::join(failure.module.kernels, ", "), compiler.purpose(target),
                                 compiler.identity(options, target));
  for (const KernelSource& kernel : printed.kernels) {
    if (std::ranges::find(failure.module.kernels, kernel.name) == failure.module.kernels.end())
      continue;
    reproduction.files.push_back(
        {kernel.name + std::string(compiler.language().extension), kernel.text()});
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
