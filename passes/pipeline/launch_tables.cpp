#include "passes/pipeline/launch_tables.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "ir/base/span.h"
#include "ir/types/capabilities.h"
#include "passes/pipeline/program_buffers.h"
#include "passes/pipeline/step_levels.h"
#include "passes/program/check_program.h"
#include "passes/program/constants.h"

namespace heddle::passes {

namespace {

using Numbers = std::vector<std::uint32_t>;

/// Launches of more blocks fill a GPU by themselves: these are about four a multiprocessor, as many
/// as a reduction is divided into.
constexpr std::int64_t most_blocks = 528;

/// The number of blocks of a launch; 0 if it depends on symbols.
std::int64_t known_blocks(const KernelStep& step) {
  std::int64_t all = 1;
  for (const GridExtent& extent : step.grid) {
    if (!extent.elements.is_constant()) return 0;
    const std::int64_t blocks =
        (extent.elements.constant() + extent.per_block - 1) / extent.per_block;
    all *= extent.most > 0 ? std::min(blocks, extent.most) : blocks;
  }
  return all;
}

std::uint32_t rows_that_fit(const KernelStep& step) {
  return static_cast<std::uint32_t>(most_table_bytes / sizeof(ir::ElementBits) /
                                    (step.parameters.size() + 1));
}

/// The most bytes of temporaries that live at the same time, as far as sizes are known.
std::int64_t most_live_bytes(const Program& program) {
  std::vector<std::int64_t> changes(program.steps.size() + 1);
  for (const Temporary& one : program.temporaries) {
    if (!one.bytes.is_constant()) continue;
    changes[one.first_step] += one.bytes.constant();
    changes[one.last_step + 1] -= one.bytes.constant();
  }
  std::int64_t live = 0, most = 0;
  for (const std::int64_t change : changes) most = std::max(most, live += change);
  return most;
}

class LaunchTables {
 public:
  explicit LaunchTables(PlannedProgram& planned) : planned_(planned), program_(planned.program) {}

  void run() {
    if (!find_candidates()) return;
    const auto levels = step_levels(planned_);
    if (!levels) return;
    sort_steps(*levels);
    form_launches(*levels);
    if (5 * launches_ > 4 * program_.steps.size()) return;
    const Program before = program_;
    order_steps();
    if (!takes_much_memory(before)) return use_tables();
    program_ = before;
  }

 private:
  /// Whether a step may be a row of a table.
  bool is_candidate(const Step& step) const {
    const KernelStep* const kernel = step.kernel();
    if (kernel == nullptr || !planned_.shared_kernel(kernel->kernel)) return false;
    const KernelPlan& plan = planned_.printed(kernel->kernel);
    const std::int64_t blocks = known_blocks(*kernel);
    return plan.has_loops() && !plan.items && !plan.look_back && blocks > 0 &&
           blocks <= most_blocks && rows_that_fit(*kernel) > 1;
  }

  /// Sets `table_of_`. False if there are too few.
  bool find_candidates() {
    const ConstantPart constants = constant_part(program_);
    std::size_t found = 0;
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      const Step& step = program_.steps[i];
      const bool once = !constants.empty() && constants.steps[i];
      const bool joins = !once && is_candidate(step);
      table_of_.push_back(joins ? *planned_.shared_kernel(step.kernel()->kernel) : none);
      found += joins ? 1 : 0;
    }
    return 4 * found > program_.steps.size();
  }

  void sort_steps(const Numbers& levels) {
    order_.resize(program_.steps.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::stable_sort(
        order_, {}, [&](std::uint32_t step) { return std::pair(levels[step], table_of_[step]); });
  }

  /// Steps of a level and a kernel, as many as a table has rows.
  void form_launches(const Numbers& levels) {
    together_.assign(order_.size(), 1);
    rows_.assign(planned_.shared.size(), 0);
    for (std::size_t i = 0; i < order_.size(); ++launches_) {
      const std::size_t first = i++;
      const std::uint32_t table = table_of_[order_[first]];
      if (table == none) continue;
      const std::uint32_t most = rows_that_fit(*program_.steps[order_[first]].kernel());
      while (i < order_.size() && i - first < most && table_of_[order_[i]] == table &&
             levels[order_[i]] == levels[order_[first]])
        together_[i++] = 0;
      together_[first] = static_cast<std::uint32_t>(i - first);
      rows_[table] = std::max(rows_[table], std::min(std::bit_ceil(together_[first]), most));
    }
  }

  void order_steps() {
    std::vector<Step> steps;
    Numbers groups;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      steps.push_back(std::move(program_.steps[order_[i]]));
      groups.push_back(planned_.group_of_step[order_[i]]);
      if (KernelStep* const kernel = steps.back().kernel()) kernel->together = together_[i];
    }
    program_.steps = std::move(steps);
    groups_ = std::move(groups);
    set_lifetimes(program_);
  }

  bool takes_much_memory(const Program& before) const {
    constexpr std::int64_t little = std::int64_t{32} << 20;
    const std::int64_t bytes = most_live_bytes(before);
    return most_live_bytes(program_) > bytes + std::max(bytes / 4, little);
  }

  /// All steps of a kernel with a table take the table, those of fallbacks too.
  void use_tables() {
    planned_.group_of_step = std::move(groups_);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i] > 1) planned_.shared[i].plan.table_rows = static_cast<int>(rows_[i]);
    }
    for (Step& step : program_.steps) {
      for_each_step(step, [&](Step& each) {
        KernelStep* const kernel = each.kernel();
        if (kernel == nullptr) return;
        const auto shared = planned_.shared_kernel(kernel->kernel);
        if (shared && rows_[*shared] > 1) kernel->table_rows = rows_[*shared];
      });
    }
  }

  static constexpr std::uint32_t none = ~0u;

  PlannedProgram& planned_;
  Program& program_;
  Numbers table_of_;           ///< by step: the shared kernel, or none
  Numbers order_;              ///< the steps as they will run
  Numbers together_, groups_;  ///< in this order
  Numbers rows_;               ///< by shared kernel: those of its table; at most 1: it has none
  std::size_t launches_ = 0;
};

}  // namespace

void form_launch_tables(PlannedProgram& planned, const PlanOptions& options) {
  if (!ir::capabilities_of(options.target).blocks || planned.shared.empty()) return;
  if (std::ranges::find(options.disabled, "launch_tables") != options.disabled.end()) return;
  const ir::Span span(ir::Phase::pass, "launch_tables");
  LaunchTables(planned).run();
}

}  // namespace heddle::passes
