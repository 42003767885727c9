#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/base/formatting.h"
#include "passes/report/explain.h"
#include "passes/report/report.h"

namespace heddle::passes {

namespace {

class Text {
 public:
  explicit Text(const Report& report) : report_(report), graph_(report.graphs.back()) {}

  std::string run() {
    const auto fallbacks = std::ranges::count(report_.kernels, true, &ReportKernel::is_fallback);
    add("program {}: {} groups, {} kernels\n", report_.program, report_.groups.size(),
        report_.kernels.size() - static_cast<std::size_t>(fallbacks));
    passes();
    for (const ReportGroup& group : report_.groups) {
      const std::string owner =
          group.owner ? fmt::format(" in the kernel of group {}", *group.owner) : "";
      add("group {}{}{}{}\n", group.id, group.library ? " library" : "", owner,
          group.description.empty() ? "" : ": " + group.description + " in one step");
      for (const std::uint32_t member : group.members) {
        const bool stored = std::ranges::find(group.stored, member) != group.stored.end();
        add("    {} {}\n", stored ? "*" : " ", node(member));
      }
    }
    add("kernels\n");
    for (const ReportKernel& kernel : report_.kernels) this->kernel(kernel);
    if (!report_.cuts.empty()) add("cuts\n");
    for (const ReportBarrier& cut : report_.cuts) {
      add("  {} does not join group {}: nearest family {}: {}\n", node(cut.node), cut.group,
          cut.family, cut.reason);
    }
    steps();
    memory();
    totals();
    return std::move(text_);
  }

 private:
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  std::string node(std::uint32_t number) const {
    const ReportNode& node = graph_.nodes[number];
    const std::string where = node.location.to_string();
    return fmt::format("%{} {} : {}{}", number, node.label, node.type,
                       where.empty() ? "" : " (" + where + ")");
  }

  void passes() {
    std::vector<std::string> changed;
    for (const ReportPass& pass : report_.passes) {
      if (pass.before != pass.after) changed.push_back(pass.name);
      if (!pass.ran) changed.push_back(pass.name + " (off)");
    }
    if (report_.passes.empty()) return;
    add("passes that changed the graph: {}\n",
        changed.empty() ? "none" : fmt::format("{}", fmt::join(changed, ", ")));
  }

  void kernel(const ReportKernel& kernel) {
    add("  {}: {} [{}]{}\n", kernel.name, kernel.plan, kernel.family,
        kernel.is_fallback ? " (fallback, runs if the library refuses)" : "");
    if (kernel.sharers > 1) {
      add("    shared by {} steps, here with {}\n", kernel.sharers,
          fmt::join(kernel.arguments, ", "));
    }
    if (!kernel.resources) return;
    add("    {} registers, {} bytes of shared memory, {} of local memory\n",
        kernel.resources->registers, kernel.resources->shared_bytes, kernel.resources->local_bytes);
  }

  void steps() {
    add("steps\n");
    for (std::size_t i = 0; i < report_.steps.size(); ++i) {
      const ReportStep& step = report_.steps[i];
      std::vector<std::string> read, written;
      for (const BufferUse& use : step.uses)
        (use.written ? written : read).push_back(name_of(use.buffer));
      add("  {} {} {}: {} -> {}: {} bytes, {} flops{}{}\n", i, step.kind, step.what,
          fmt::join(read, ", "), fmt::join(written, ", "), step.bytes.to_string(),
          step.flops.to_string(), step.once ? ", kept from call to call" : "", time(step));
      if (!step.why.empty()) add("    runs step by step: {}\n", step.why);
    }
  }

  std::string time(const ReportStep& step) const {
    if (!step.microseconds) return "";
    const std::optional<double> share = share_of_ceiling(report_, step);
    return fmt::format(", {:.1f} us{}", *step.microseconds,
                       share ? fmt::format(", {:.0f}% of the ceiling", 100 * *share) : "");
  }

  void memory() {
    if (report_.temporaries.empty()) return;
    const std::optional<Arena> arena = arena_of(report_);
    add("temporaries{}\n", arena ? fmt::format(", in {} bytes", arena->bytes) : "");
    for (std::size_t i = 0; i < report_.temporaries.size(); ++i) {
      const ReportTemporary& one = report_.temporaries[i];
      std::vector<std::string> nodes;
      for (const std::uint32_t number : one.nodes) nodes.push_back(fmt::format("%{}", number));
      add("  t{}: {}{}: {} bytes{}, steps {} to {}\n", i, one.scratch ? "scratch of " : "",
          fmt::join(nodes, ", "), one.bytes.to_string(),
          arena ? fmt::format(" at {}", arena->offsets[i]) : "", one.first_step, one.last_step);
    }
  }

  void totals() {
    const auto& [moved, fewest] = report_.traffic;
    add("bytes moved {}, fewest possible {}", moved.to_string(), fewest.to_string());
    const std::optional<double> times = ratio(moved, fewest);
    if (times) add(" ({:.2f} times)", *times);
    add("\nflops {}", report_.flops.to_string());
    if (const auto intensity = ratio(report_.flops, moved)) add(", {:.2f} a byte", *intensity);
    add("\n");
    if (!report_.no_resources.empty()) add("{}\n", report_.no_resources);
    if (!report_.run) return;
    const ReportRun& run = *report_.run;
    add("{} runs on {}: median {:.1f} us\n", run.runs, run.device, run.microseconds);
    add("ceiling {:.1f} GB/s: {}\n", run.ceiling.bytes_per_second * 1e-9, run.ceiling.origin);
  }

  const Report& report_;
  const ReportGraph& graph_;
  std::string text_;
};

}  // namespace

std::string to_text(const Report& report) { return Text(report).run(); }

std::string explain(const PlannedProgram& planned) {
  return to_text(Reporter(planned.graph).report(planned, {}));
}

}  // namespace heddle::passes
