#include "runtime/execute/call_site.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/fork_gate.h"
#include "ir/graph/generalize.h"
#include "passes/rewrite/roll_loops.h"
#include "runtime/base/bounded_map.h"
#include "runtime/base/log.h"
#include "runtime/compile/compile.h"
#include "runtime/compile/recording.h"
#include "runtime/execute/large_program.h"

namespace heddle::runtime {

namespace {

using SharedGeneral = std::shared_ptr<const ir::SymbolicGraph>;

/// Graphs recorded at one call site with the same structure, options and device.
struct Family {
  std::vector<ir::ErasedSignature> outlines;  ///< shape-erased signatures of graphs that have their
                                              ///< own program
  std::vector<SharedGeneral> generals;
  int refusals = 0;  ///< number of failures to make a symbolic graph
  int recorded = 0;  ///< number of graphs served by a symbolic graph that were recorded too
};

struct Site {
  BoundedMap<ir::Hash128, Family, ir::Hash128Hasher> families{64};
  int programs = 0;
  bool is_large = false;                  ///< whether a warning has said that a program is large
  std::shared_ptr<const ir::Graph> last;  ///< graph of the last program made before the warning
};

bool have_ones_alike(const ir::ErasedSignature& a, const ir::ErasedSignature& b) {
  const auto is_one = [](std::int64_t number) { return number == 1; };
  return std::ranges::equal(a.numbers, b.numbers, {}, is_one, is_one);
}

/// Number of programs for single graphs before a symbolic graph is tried.
constexpr std::size_t own_programs = 2;

/// Makes a symbolic graph that covers every variant of the family and `outline`. If that fails,
/// because extents of 1 are broadcast, covers only variants with extents of 1 at the same
/// positions. If that fails too, covers only the latest variants: the first may be of another kind,
/// such as a convolution whose kernel is longer than its signal.
SharedGeneral generalize(const Family& family, const ir::Graph& graph,
                         const ir::ErasedSignature& outline) {
  std::vector<ir::ErasedSignature> all = family.outlines, alike;
  all.push_back(outline);
  std::ranges::copy_if(all, std::back_inserter(alike), [&](const ir::ErasedSignature& other) {
    return have_ones_alike(other, outline);
  });
  const auto latest = std::span(all).last(std::min(all.size(), own_programs + 1));
  std::optional<ir::SymbolicGraph> general = ir::generalize(graph, all);
  if (!general && alike.size() > 1 && alike.size() < all.size())
    general = ir::generalize(graph, alike);
  if (!general && latest.size() < all.size()) general = ir::generalize(graph, latest);
  if (!general) return nullptr;
  return std::make_shared<const ir::SymbolicGraph>(std::move(*general));
}

std::string first_difference(const ir::Graph& before, const ir::Graph& now) {
  for (std::size_t i = 0; i < std::min(before.parameters().size(), now.parameters().size()); ++i) {
    const ir::Type was = before.type(before.parameters()[i]), is = now.type(now.parameters()[i]);
    if (was != is)
      return fmt::format("input {} is now {} and was {} before", i, to_string(is), to_string(was));
  }
  const std::string old_text = print(before), text = print(now, {.locations = true});
  std::string_view old_rest = old_text, rest = text;
  const auto take_line = [](std::string_view& from) {
    const std::size_t end = std::min(from.find('\n'), from.size());
    const std::string_view line = from.substr(0, end);
    from.remove_prefix(std::min(end + 1, from.size()));
    return line;
  };
  while (!rest.empty() || !old_rest.empty()) {
    const std::string_view is = take_line(rest), was = take_line(old_rest);
    if (is.substr(0, is.find("  //")) != was)
      return fmt::format("it has \"{}\" instead of \"{}\"", is, was);
  }
  return "options or the alignment of its inputs differ";
}

/// The source location of a graph's result.
std::string line_of(const ir::Graph& graph) {
  for (std::size_t i = graph.size(); i-- > 0;) {
    const ir::Location& location = graph.node(ir::ValueId(static_cast<std::uint32_t>(i))).location;
    if (location.file != nullptr) return location.to_string();
  }
  return "an unknown line";
}

/// Counts a program made for a site. Returns the warning to give, if any.
std::string note_program(Site& site, const ir::Graph& graph, bool same_structure) {
  ++site.programs;
  if (site.programs == many_programs - 1) site.last = std::make_shared<const ir::Graph>(graph);
  if (site.programs != many_programs) return {};
  const std::shared_ptr<const ir::Graph> last = std::move(site.last);
  return fmt::format("{} programs were made for {} at {}, the last one because {}. {}",
                     site.programs, graph.name, line_of(graph), first_difference(*last, graph),
                     same_structure
                         ? "Make changing extents symbolic (JitOptions::dynamic, in Python "
                           "jit(dynamic=...)), and pass changing numbers as arguments."
                         : "The computation itself changes, not only extents and numbers.");
}

/// The result of looking up a graph.
struct Found {
  SharedGeneral general;  ///< null if the graph gets its own program
  bool record = false;    ///< whether to record the graph in addition to the symbolic graph
  std::string warning;
  bool is_large = false;  ///< and nothing was said of it
};

class Sites {
 public:
  static Sites& global() {
    static Sites* const sites = new Sites;
    return *sites;
  }

  Found find(const ir::Hash128& place, const ir::Hash128& family_key, const ir::Graph& graph,
             const ir::ErasedSignature& outline, bool may_generalize) {
    constexpr std::size_t most_generals = 3;
    constexpr int most_refusals = 3, most_recorded = 16;
    const std::lock_guard lock(mutex_);
    Site& site = by_place_[place];
    Family& family = site.families[family_key];
    if (std::ranges::find(family.outlines, outline) != family.outlines.end()) return {};
    Found found;
    found.is_large = graph.size() > large_program_nodes && !std::exchange(site.is_large, true);
    if (may_generalize) {
      const auto fits = [&](const SharedGeneral& general) {
        return covers_signature(*general, outline);
      };
      const auto known = std::ranges::find_if(family.generals, fits);
      if (known != family.generals.end()) {
        found.general = *known;
      } else if (family.outlines.size() >= own_programs && family.generals.size() < most_generals &&
                 family.refusals < most_refusals) {
        found.general = generalize(family, graph, outline);
        if (found.general) {
          family.generals.push_back(found.general);
          found.warning = note_program(site, graph, true);
        } else {
          ++family.refusals;
        }
      }
      if (found.general) {
        found.record = family.recorded++ < most_recorded;
        return found;
      }
    }
    found.warning = note_program(site, graph, !family.outlines.empty());
    family.outlines.push_back(outline);
    if (family.outlines.size() > own_programs + most_generals)
      family.outlines.erase(family.outlines.begin());
    return found;
  }

  /// Called if the symbolic graph does not compile. The family tries at most two others.
  void refuse(const ir::Hash128& place, const ir::Hash128& family_key, const SharedGeneral& general,
              const ir::ErasedSignature& outline) {
    const std::lock_guard lock(mutex_);
    Family& family = by_place_[place].families[family_key];
    if (std::erase(family.generals, general) != 0) ++family.refusals;
    family.outlines.push_back(outline);
  }

  void forget(const ir::Hash128& place) {
    const std::lock_guard lock(mutex_);
    by_place_.erase(place);
  }

 private:
  ir::Mutex mutex_;
  BoundedMap<ir::Hash128, Site, ir::Hash128Hasher> by_place_{4096};
};

SiteProgram with_extras(const SharedGeneral& shared, const ir::ErasedSignature& outline,
                        CompileOptions options, const Device& device) {
  const ir::SymbolicGraph& general = *shared;
  const std::size_t extras = general.extents.size() + general.scalars.size();
  if (!options.donated.empty()) options.donated.resize(options.donated.size() + extras, false);
  if (!options.aligned.empty()) options.aligned.resize(options.aligned.size() + extras, true);
  SiteProgram program{
      Executable::get(general.graph, options, device), {}, {shared, &general.graph}};
  for (const std::size_t number : general.extents)
    program.extras.emplace_back(DeviceArray{ir::extent_argument(outline.numbers[number]), {}, 0});
  const auto& parameters = general.graph.parameters();
  const std::size_t first = parameters.size() - general.scalars.size();
  for (std::size_t i = 0; i < general.scalars.size(); ++i) {
    program.extras.emplace_back(ScalarArgument{general.graph.dtype(parameters[first + i]),
                                               outline.constants[general.scalars[i]]});
  }
  return program;
}

void warn_if_large(const ir::Graph& graph, const std::vector<std::string>& disabled) {
  const bool rolls = std::ranges::find(disabled, "roll_loops") == disabled.end();
  if (rolls && passes::roll_loops(graph).size() <= large_program_nodes) return;
  log().warn("{}", describe_large_program(graph));
}

}  // namespace

SiteProgram executable_for_site(const ir::Hash128& place, const ir::Graph& graph,
                                const CompileOptions& options, const Device& device) {
  const std::vector<std::string> disabled = with_environment(options).disabled;
  const bool may_generalize = std::ranges::find(disabled, "symbols") == disabled.end();
  const ir::ErasedSignature outline = ir::erased_signature_of(graph);
  ir::Hasher hasher;
  hasher.hash(outline.structure);
  hash_into(hasher, options, device);
  const ir::Hash128 family = hasher.finish();
  const Found found = Sites::global().find(place, family, graph, outline, may_generalize);
  const bool is_costly = !may_run_uncompiled(options, target_of(device));
  if (!found.warning.empty() && is_costly) log().warn("{}", found.warning);
  if (found.is_large) warn_if_large(graph, disabled);
  if (found.general) {
    // When a cache is warmed from a recording, the extents may occur in another order.
    if (found.record && is_recording()) add_to_recording(graph, options);
    try {
      return with_extras(found.general, outline, options, device);
    } catch (const CompileError& error) {
      // If compiling is forbidden, the program of the graph itself may be in the cache.
      if (!compiling_is_forbidden()) {
        log().warn("{} is compiled for these extents only: {}", graph.name, error.what());
        Sites::global().refuse(place, family, found.general, outline);
      }
    }
  }
  return {Executable::get(graph, options, device), {}, nullptr};
}

void forget_call_site(const ir::Hash128& place) { Sites::global().forget(place); }

}  // namespace heddle::runtime
