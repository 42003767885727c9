#include "passes/pipeline/shared_kernels.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "ir/base/span.h"
#include "ir/types/capabilities.h"
#include "passes/pipeline/shared_arguments.h"
#include "passes/plan/details.h"
#include "passes/plan/launch.h"
#include "passes/plan/numbers.h"

namespace heddle::passes {

namespace {

constexpr std::size_t fewest_kernels = 4;

class Sharing {
 public:
  Sharing(PlannedProgram& planned, const PlanOptions& options, const TextOf& text_of)
      : planned_(planned),
        blocks_(ir::capabilities_of(options.target).blocks),
        target_(options.target),
        text_of_(text_of),
        symbols_(symbols_of(planned.program)) {}

  void run() {
    find_steps();
    std::unordered_map<std::string, std::size_t> named;
    for (std::uint32_t i = 0; i < planned_.kernels.size(); ++i) {
      if (steps_[i] != nullptr) ++named[planned_.kernels[i].name];
    }
    for (std::uint32_t i = 0; i < planned_.kernels.size(); ++i) {
      if (steps_[i] != nullptr && named[planned_.kernels[i].name] >= fewest_kernels) add(i);
    }
    for (const std::vector<Occurrence>& group : groups_) {
      if (different(group) >= fewest_kernels) share(group);
    }
  }

 private:
  /// The symbols of a program all occur in its inputs.
  static std::vector<ir::SymbolId> symbols_of(const Program& program) {
    std::vector<ir::SymbolId> symbols;
    for (const ProgramInput& input : program.inputs) {
      for (const Dim extent : input.type.shape) extent.collect_symbols(symbols);
    }
    return symbols;
  }

  /// Sort kernels have no step of their own.
  void find_steps() {
    steps_.assign(planned_.kernels.size(), nullptr);
    for (Step& step : planned_.program.steps) {
      for_each_step(step, [&](Step& each) {
        if (KernelStep* const kernel = each.kernel()) steps_[kernel->kernel] = kernel;
      });
    }
  }

  /// What the plan's numbers have decided on the CPU follows from the numbers that are left.
  void settle(KernelPlan& plan) const {
    if (!blocks_) plan.host_passes = host_passes(plan);
  }

  void add(std::uint32_t kernel) {
    IndexSpace space;
    std::vector<PlanNumber> visited;
    std::optional<KernelPlan> plan =
        with_numbers(planned_.kernels[kernel], space, [&](const PlanNumber& number) {
          visited.push_back(number);
          return Dim(number.multiple) * Dim::symbol(symbols_.at(visited.size() - 1));
        });
    if (!plan || !fit(visited, *plan)) return;
    for (const int i : constant_arguments(*plan)) pass_constant(*plan, i);
    settle(*plan);
    std::string text = text_of_(*plan);
    Occurrence occurrence{kernel, steps_[kernel], {}, {}, {}, scalars_of(*plan)};
    for (const ir::SymbolId symbol : kernel_symbols(*plan)) {
      if (const auto visit = symbols_.number_of(symbol)) {
        occurrence.numbers.push_back(visited[*visit]);
        occurrence.visits.push_back(*visit);
        text += 'n';
      } else {
        occurrence.symbols.push_back(symbol);
        text += 's';
      }
    }
    const auto [known, is_new] = group_of_.try_emplace(std::move(text), groups_.size());
    if (is_new) groups_.emplace_back();
    groups_[known->second].push_back(std::move(occurrence));
  }

  /// Whether arguments fit the kernel's type of indices.
  bool fit(const std::vector<PlanNumber>& numbers, const KernelPlan& plan) const {
    constexpr std::int64_t most = std::int64_t{1} << 30;
    return !blocks_ || plan.index_bits == 64 ||
           std::ranges::all_of(numbers, [](const PlanNumber& number) {
             if (!number.value.is_constant()) return true;  // as in the kernel itself
             return -most < number.value.constant() && number.value.constant() < most;
           });
  }

  /// The number of kernels of the group that differ from each other.
  static std::size_t different(const std::vector<Occurrence>& group) {
    std::set<std::vector<std::uint64_t>> known;
    for (const Occurrence& one : group) {
      if (known.size() >= fewest_kernels) break;
      std::vector<std::uint64_t> all;
      for (const PlanNumber& number : one.numbers) all.push_back(number.value.hash());
      for (const KernelScalar& scalar : one.scalars) {
        all.push_back(scalar.bits.low);
        all.push_back(scalar.bits.high);
      }
      known.insert(std::move(all));
    }
    return known.size();
  }

  void share(const std::vector<Occurrence>& group) {
    const bool wide = !blocks_ || plan_of(group[0]).index_bits == 64;
    const SharedArguments arguments(group, symbols_, wide);
    SharedKernel shared{{}, std::make_shared<IndexSpace>()};
    shared.plan = arguments.plan(plan_of(group[0]), *shared.space);
    settle(shared.plan);
    const KernelStep shape = launch_shape(shared.plan, target_);
    if (blocks_ && parameter_bytes(shared.plan) > most_parameter_bytes) return;
    const auto has_other_grid = [&](const Occurrence& one) {
      return one.step->grid.size() != shape.grid.size();
    };
    if (std::ranges::any_of(group, has_other_grid)) return;
    for (const Occurrence& one : group) {
      planned_.shared_of_kernel[one.kernel] = static_cast<std::uint32_t>(planned_.shared.size());
      use_shape(*one.step, shape);
      arguments.pass(one, shared.plan);
    }
    planned_.shared.push_back(std::move(shared));
  }

  const KernelPlan& plan_of(const Occurrence& one) const { return planned_.kernels[one.kernel]; }

  /// Units of work as the shared kernel counts them. Their number follows from the step's sizes.
  static void use_shape(KernelStep& step, const KernelStep& shape) {
    for (std::size_t i = 0; i < shape.grid.size(); ++i) {
      step.grid[i].per_block = shape.grid[i].per_block;
      step.grid[i].most = shape.grid[i].most;
    }
    std::ranges::copy(shape.block, step.block);
    step.shared_bytes = shape.shared_bytes;
    step.cluster = shape.cluster;
  }

  /// Every driver accepts 4 KB of parameters.
  static constexpr std::size_t most_parameter_bytes = 4096 - 256;
  static std::size_t parameter_bytes(const KernelPlan& plan) {
    constexpr std::size_t word = 8;
    return word * (plan.operands.size() + kernel_symbols(plan).size()) +
           2 * word * kernel_scalars(plan).size();
  }

  PlannedProgram& planned_;
  const bool blocks_;
  const ir::Target& target_;
  const TextOf& text_of_;
  NumberSymbols symbols_;
  std::vector<KernelStep*> steps_;                         ///< by kernel
  std::unordered_map<std::string, std::size_t> group_of_;  ///< by text without numbers
  std::vector<std::vector<Occurrence>> groups_;            ///< in the order of their first kernels
};

}  // namespace

void share_kernels(PlannedProgram& planned, const PlanOptions& options, const TextOf& text_of) {
  planned.shared_of_kernel.assign(planned.kernels.size(), std::nullopt);
  if (std::ranges::find(options.disabled, "shared_kernels") != options.disabled.end()) return;
  const ir::Span span(ir::Phase::pass, "shared_kernels");
  Sharing(planned, options, text_of).run();
}

}  // namespace heddle::passes
