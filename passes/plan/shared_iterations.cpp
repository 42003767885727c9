#include "passes/plan/shared_iterations.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/types/capabilities.h"
#include "passes/groups/small_reductions.h"
#include "passes/plan/analyze.h"
#include "passes/plan/launch.h"
#include "passes/plan/walk.h"

namespace heddle::passes {

namespace {

constexpr std::int64_t most_reductions = 8;

/// How many iterations of the loop a thread may take at once: all of a small loop, or a few that
/// divide a long one; 1 if it may not.
std::int64_t iterations_at_once(const KernelPlan& plan, const Loop& loop) {
  if (!loop.extent.is_constant()) return 1;
  const auto is_plain = [&](const Index& index) {
    return !plan.space->nested(index, loop.atom) && !plan.space->is_by_value(index);
  };
  if (!std::ranges::all_of(plan.body,
                           [&](const Instruction& one) { return is_plain(one.address); }) ||
      !std::ranges::all_of(plan.stores,
                           [&](const Store& store) { return is_plain(store.address); }))
    return 1;
  const std::int64_t extent = loop.extent.constant();
  std::int64_t count = extent <= most_unrolled_loop ? extent : most_unrolled_loop;
  while (count > 1 &&
         (extent % count != 0 || count * std::ssize(plan.reductions) > most_reductions)) {
    --count;
  }
  return std::max<std::int64_t>(count, 1);
}

/// Issue slots of an element in one iteration of the loop: those that all iterations have in
/// common, and those that they do not.
struct Slots {
  std::int64_t shared = 0, own = 0;
};

/// Conversions between integers and floats of 8 bytes run at a quarter of the rate of additions.
int slots_of_cast(const KernelPlan& plan, const Instruction& cast) {
  const DType from = plan.body[static_cast<std::size_t>(cast.arguments[0])].dtype;
  const bool is_wide = std::max(size_of(from), size_of(cast.dtype)) == 8;
  return is_wide && is_floating(from) != is_floating(cast.dtype) ? 4 : 1;
}

Slots slots_of(const KernelPlan& plan, const Loop& loop) {
  constexpr int load_slots = 4;  // even if it hits the first cache
  const std::vector<bool> varying = varying_along(plan, loop);
  Slots slots;
  for (std::size_t i = 0; i < plan.body.size(); ++i) {
    const Instruction& one = plan.body[i];
    if (!one.element) continue;
    const int cost = one.kind == Instruction::Kind::apply  ? ir::info(one.op).cost
                     : one.kind == Instruction::Kind::load ? load_slots
                     : one.kind == Instruction::Kind::cast ? slots_of_cast(plan, one)
                                                           : 1;
    (varying[i] ? slots.own : slots.shared) += cost;
  }
  slots.own += std::ssize(plan.reductions);
  return slots;
}

/// Whether a quarter of all work or more is saved, and that work takes longer than memory does.
bool pays(const KernelPlan& plan, const Slots& slots, std::int64_t count,
          const ir::Target& target) {
  const std::int64_t all = count * (slots.shared + slots.own);
  if (slots.shared * (count - 1) * 4 < all) return false;
  const ir::Rates& rates = ir::capabilities_of(target).rates;
  const double elements = static_cast<double>(known(iterations(plan.outer), 1 << 20)) *
                          static_cast<double>(known(iterations(plan.inner), 1 << 20));
  double bytes = 0;
  for (const Instruction* load : element_loads(plan)) bytes += bytes_read(plan, *load);
  return elements * static_cast<double>(slots.shared + slots.own) / rates.slots_per_us >
         bytes / rates.bytes_per_us;
}

/// Whether enough threads remain, each with several elements.
bool leaves_enough_threads(const KernelPlan& plan, std::int64_t count) {
  constexpr std::int64_t enough = 1 << 17, each = 16;
  const std::int64_t rows = known(iterations(plan.outer), 1 << 20) / count;
  return rows * std::max<std::int64_t>(known(iterations(plan.inner), 1 << 20) / each, 1) >= enough;
}

/// Copies a plan, with one instruction for each of `count` neighbouring iterations of the loop
/// where these differ.
class Sharing {
 public:
  Sharing(const KernelPlan& plan, IndexSpace& space, const Loop& loop, std::int64_t count)
      : plan_(plan),
        loop_(loop),
        count_(static_cast<int>(count)),
        varying_(varying_along(plan, loop)),
        rest_{space.new_loop(loop.extent.divided_by(count)), loop.extent.divided_by(count)} {}

  KernelPlan run() {
    KernelPlan result = plan_;
    for (Loop& one : result.outer) {
      if (one.atom == loop_.atom) one = rest_;
    }
    if (rest_.extent == Dim(1))
      std::erase_if(result.outer, [&](const Loop& one) { return one.atom == rest_.atom; });
    result.body.clear();
    result.reductions.clear();
    result.stores.clear();
    for (std::size_t i = 0; i < plan_.body.size(); ++i) add(result, i);
    for (const Store& store : plan_.stores) {
      for (int iteration = 0; iteration < count_; ++iteration) {
        Store& copy = result.stores.emplace_back(store);
        copy.value = at(store.value, iteration);
        copy.address = moved(store.address, iteration);
      }
    }
    return result;
  }

 private:
  void add(KernelPlan& result, std::size_t i) {
    numbers_.emplace_back();
    const int copies = varying_[i] ? count_ : 1;
    for (int iteration = 0; iteration < copies; ++iteration) {
      Instruction one = plan_.body[i];
      for (int& argument : one.arguments) argument = at(argument, iteration);
      one.address = moved(one.address, iteration);
      if (one.reduction >= 0) {
        Reduction reduction = plan_.reductions[static_cast<std::size_t>(one.reduction)];
        reduction.value = at(reduction.value, iteration);
        one.reduction = static_cast<int>(result.reductions.size());
        result.reductions.push_back(reduction);
      }
      numbers_[i].push_back(static_cast<int>(result.body.size()));
      result.body.push_back(std::move(one));
    }
  }

  int at(int instruction, int iteration) const {
    const std::vector<int>& copies = numbers_[static_cast<std::size_t>(instruction)];
    return copies.size() == 1 ? copies[0] : copies[static_cast<std::size_t>(iteration)];
  }

  Index moved(Index address, int iteration) const {
    const Dim step = plan_.space->coefficient(address, loop_.atom);
    if (step == Dim(0)) return address;
    address.offset = address.offset + step * Dim(iteration);
    std::erase_if(address.terms, [&](const IndexTerm& term) { return term.atom == loop_.atom; });
    if (rest_.extent == Dim(1)) return address;
    return plan_.space->add(address, {0, {{rest_.atom, step * Dim(count_)}}});
  }

  const KernelPlan& plan_;
  const Loop loop_;
  const int count_;
  const std::vector<bool> varying_;
  const Loop rest_;                        ///< over the runs of iterations
  std::vector<std::vector<int>> numbers_;  ///< of the copies of each instruction
};

/// `small`: of the loops of which a thread can take all iterations; else of the others.
bool share_one_loop(KernelPlan& plan, IndexSpace& space, bool small, const ir::Target& target) {
  for (std::size_t i = 0; i < plan.outer.size(); ++i) {
    const Loop loop = plan.outer[i];
    const std::int64_t count = iterations_at_once(plan, loop);
    if ((loop.extent == Dim(count)) != small) continue;
    // Neighbouring threads, or elements of a vector, take neighbouring columns.
    if (!small && i + 1 == plan.outer.size() && reads_columnwise(plan, target)) continue;
    if (count == 1 || !pays(plan, slots_of(plan, loop), count, target) ||
        !leaves_enough_threads(plan, count))
      continue;
    plan = Sharing(plan, space, loop, count).run();
    return true;
  }
  return false;
}

}  // namespace

bool share_iterations(KernelPlan& plan, IndexSpace& space, const ir::Target& target) {
  const auto is_about = [](const Reduction& one) { return one.about != SumAbout::nothing; };
  const bool reduces = plan.stages == 1 && !plan.inner.empty() && segmented(plan) == nullptr &&
                       std::ranges::none_of(plan.reductions, &Reduction::scan) &&
                       std::ranges::none_of(plan.reductions, is_about) &&
                       std::ranges::none_of(plan.stores, &Store::element);
  if (!ir::capabilities_of(target).blocks || !reduces || !plan.element_loops.empty()) return false;
  bool changed = false;
  for (const bool small : {true, false}) {
    while (share_one_loop(plan, space, small, target)) changed = true;
  }
  return changed;
}

}  // namespace heddle::passes
