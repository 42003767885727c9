#include <algorithm>
#include <unordered_map>

#include "passes/plan/analyze.h"
#include "runtime/host/blocks/block_kernel.h"

namespace heddle::runtime::host {

using passes::KernelPlan;
using passes::Mapping;

namespace {

/// Divides a plan's instructions into lists, and gives their values slots.
class Lists {
 public:
  Lists(BlockKernel& kernel, const KernelPlan& plan) : kernel_(kernel), plan_(plan) {}

  void run() {
    known_.assign(plan_.body.size(), false);
    std::vector<int> everything;
    for (std::size_t i = 0; i < plan_.body.size(); ++i) {
      if (kernel_.operations[i].is_fixed) everything.push_back(static_cast<int>(i));
    }
    kernel_.fixed = kept(everything);
    switch (plan_.mapping) {
      case Mapping::rows:
        make_row_lists();
        break;
      case Mapping::columns:
        make_column_lists();
        break;
      case Mapping::scan_rows:
      case Mapping::scan_columns:
        make_scan_lists();
        break;
      default: {
        std::vector<int> stores;
        for (std::size_t i = 0; i < plan_.stores.size(); ++i) stores.push_back(static_cast<int>(i));
        kernel_.all = list_of({}, stores, false);
      }
    }
    kernel_.slot_count = std::max(kernel_.slot_count, most_slots_);
  }

 private:
  /// Operations whose blocks stay.
  StepList kept(const std::vector<int>& operations) {
    StepList list;
    for (const int i : operations) {
      known_[i] = true;
      list.steps.push_back({i, kernel_.slot_count++});
    }
    return list;
  }

  StepList list_of(const std::vector<int>& values, const std::vector<int>& stores,
                   bool element_only) {
    std::vector<int> roots = values;
    for (const int i : stores) {
      for (const int needed : needs_of(plan_.stores[i])) roots.push_back(needed);
    }
    StepList list;
    list.stores = stores;
    const std::vector<int> order = passes::needed(plan_, roots, element_only, known_);
    std::unordered_map<int, std::size_t> last_use;
    for (std::size_t at = 0; at < order.size(); ++at) {
      last_use[order[at]] = at;
      for (const int argument : inputs_of(order[at])) last_use[argument] = at;
    }
    for (const int root : roots) last_use[root] = order.size();
    std::vector<std::vector<int>> last_used(order.size());  // values, by the step
    for (const auto& [used, until] : last_use) {
      if (until < order.size()) last_used[until].push_back(used);
    }
    const std::unordered_map<int, int> stored = stored_once(list);
    std::vector<int> free;
    int next = kernel_.slot_count;
    for (std::size_t at = 0; at < order.size(); ++at) {
      const int i = order[at];
      if (free.empty()) free.push_back(next++);
      const auto store = stored.find(i);
      list.steps.push_back({i, free.back(), store == stored.end() ? -1 : store->second});
      local_slot_[i] = free.back();
      free.pop_back();
      for (const int used : last_used[at]) {
        const auto slot = local_slot_.find(used);
        if (slot == local_slot_.end()) continue;
        free.push_back(slot->second);
        local_slot_.erase(slot);
      }
    }
    local_slot_.clear();
    most_slots_ = std::max(most_slots_, next);
    return list;
  }

  /// All operations that an operation reads, also through its address.
  std::vector<int> inputs_of(int i) {
    std::vector<int> inputs = plan_.body[i].arguments;
    for (const passes::IndexTerm& term : plan_.body[i].address.terms) {
      const passes::Atom& atom = plan_.space->atom(term.atom);
      if (atom.kind == passes::Atom::Kind::computed) inputs.push_back(static_cast<int>(atom.value));
    }
    return inputs;
  }

  /// The operations whose values one store of the list stores, and as they are; and that store.
  std::unordered_map<int, int> stored_once(const StepList& list) {
    std::unordered_map<int, int> stored;
    for (std::size_t k = 0; k < list.stores.size(); ++k) {
      const auto [at, is_first] =
          stored.try_emplace(kernel_.stores[list.stores[k]].value, static_cast<int>(k));
      if (!is_first) at->second = -1;
    }
    std::erase_if(stored, [&](const auto& one) {
      if (one.second < 0) return true;
      const StoreCode& store = kernel_.stores[list.stores[one.second]];
      return store.depends_on_values || store.combine || !kernel_.is_alone[store.operand];
    });
    return stored;
  }

  void make_row_lists() {
    std::vector<int> roots;
    for (const passes::Store& store : plan_.stores) roots.push_back(store.value);
    for (const passes::Store& store : plan_.stores)
      roots.insert(roots.end(), store.positions.begin(), store.positions.end());
    for (const passes::Reduction& reduction : plan_.reductions) {
      for (const int needed : needs_of(reduction)) roots.push_back(needed);
    }
    const std::vector<int> order = passes::needed(plan_, roots, false, known_);
    for (int stage = 0; stage <= plan_.stages; ++stage) {
      std::vector<int> of_stage;
      for (const int i : order) {
        if (!plan_.body[i].element && plan_.body[i].stage == stage) of_stage.push_back(i);
      }
      kernel_.of_rows.push_back(kept(of_stage));
    }
    kernel_.extremes.resize(plan_.reductions.size());
    for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
      if (kernel_.reductions[i].by_extreme)
        kernel_.extremes[i] = list_of({plan_.reductions[i].value}, {}, true);
    }
    make_passes(true);
    for (std::size_t i = 0; i < plan_.stores.size(); ++i) {
      if (!plan_.stores[i].element) kernel_.finish.stores.push_back(static_cast<int>(i));
    }
  }

  void make_column_lists() {
    if (kernel_.segment >= 0) {
      const passes::Reduction& segment = plan_.reductions[kernel_.segment];
      kernel_.of_rows.push_back(
          kept(passes::needed(plan_, {segment.first, segment.last}, false, known_)));
    }
    make_passes(false);
    std::vector<int> finished;
    for (std::size_t i = 0; i < plan_.stores.size(); ++i) {
      if (!plan_.stores[i].element) finished.push_back(static_cast<int>(i));
    }
    kernel_.finish = list_of({}, finished, false);
  }

  void make_scan_lists() {
    std::vector<int> values, of_elements, others;
    for (const passes::Reduction& reduction : plan_.reductions) {
      for (const int needed : needs_of(reduction)) values.push_back(needed);
    }
    for (std::size_t i = 0; i < plan_.stores.size(); ++i)
      (plan_.stores[i].element ? of_elements : others).push_back(static_cast<int>(i));
    kernel_.scanned = list_of(values, {}, false);
    kernel_.results = list_of({}, of_elements, false);
    kernel_.finish = list_of({}, others, false);
  }

  void make_passes(bool element_only) {
    for (const passes::HostPass& pass : plan_.host_passes) {
      PassCode code;
      code.stage = pass.stage;
      code.reductions = pass.reductions;
      code.states = pass.states;
      code.state_bytes = pass.state_bytes;
      code.in_blocks = pass.in_blocks;
      std::vector<int> values;
      for (const int i : pass.reductions) values.push_back(plan_.reductions[i].value);
      code.list = list_of(values, pass.stores, element_only);
      kernel_.passes.push_back(std::move(code));
    }
  }

  BlockKernel& kernel_;
  const KernelPlan& plan_;
  std::unordered_map<int, int> local_slot_;
  std::vector<bool> known_;  ///< operations that keep their slots: fixed, or of a row
  int most_slots_ = 0;
};

}  // namespace

void make_lists(BlockKernel& kernel, const KernelPlan& plan) { Lists(kernel, plan).run(); }

}  // namespace heddle::runtime::host
