#include "runtime/host/blocks/block_frame.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "heddle/error.h"

#include "ir/types/scalar.h"
#include "runtime/base/per_thread.h"
#include "runtime/host/blocks/lane_copies.h"

namespace heddle::runtime::host {

using Kind = Operation::Kind;

namespace {

/// Grows, and keeps 64-byte aligned memory.
class Block {
 public:
  ~Block() { std::free(data_); }
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  std::byte* at_least(std::size_t bytes) {
    if (bytes > bytes_) {
      const std::size_t wanted = (std::max(bytes, 2 * bytes_) + 63) / 64 * 64;
      std::free(data_);
      bytes_ = 0;
      data_ = static_cast<std::byte*>(std::aligned_alloc(64, wanted));
      if (data_ == nullptr) throw std::bad_alloc();
      bytes_ = wanted;
    }
    return data_;
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace

/// A thread's memory.
struct BlockFrame::Memory {
  std::vector<std::int64_t> sizes;
  ir::SymbolBindings bindings;
  std::vector<LaneIndex> loops, atoms, targets;
  std::vector<std::uint64_t> stamps;
  std::vector<const std::byte*> values, states;
  Block slots, indices;
  std::vector<std::unique_ptr<Block>> scratch;
  std::uint64_t stamp = 0;
};

BlockFrame::BlockFrame(const BlockKernel& kernel, void* const* buffers, const std::int64_t* scalars)
    : kernel_(kernel),
      buffers_(buffers),
      scalars_(scalars),
      memory_(per_thread<Memory>()),
      loops_(memory_.loops),
      atom_values_(memory_.atoms),
      atom_stamps_(memory_.stamps),
      values_(memory_.values),
      states_(memory_.states),
      targets_(memory_.targets) {
  sizes_ = kernel.constant_sizes.data();
  if (kernel.constant_sizes.empty()) {
    memory_.bindings.clear();
    for (std::size_t i = 0; i < kernel.symbols.size(); ++i)
      memory_.bindings.push_back({kernel.symbols[i], scalars[i]});
    memory_.sizes.clear();
    for (const passes::Dim& dim : kernel.sizes)
      memory_.sizes.push_back(dim.evaluate(memory_.bindings));
    sizes_ = memory_.sizes.data();
  }
  loops_.assign(kernel.outer.size() + kernel.inner.size(), {});
  atom_values_.resize(std::max(atom_values_.size(), kernel.atoms.size()));
  atom_stamps_.resize(std::max(atom_stamps_.size(), kernel.atoms.size()));
  values_.resize(std::max(values_.size(), kernel.operations.size()));
  states_.resize(std::max(states_.size(), kernel.reductions.size()));
  memory_.slots.at_least(kernel.slot_bytes * static_cast<std::size_t>(kernel.slot_count));
  // A loop of a block of lanes needs at most one block of indices, an address three, an atom four
  // (those of its numerator, and its own), an operation those of its address and its operand's.
  const std::size_t blocks = loops_.size() + 5 * kernel.atoms.size() +
                             4 * kernel.operations.size() + 3 * kernel.stores.size() + 4;
  memory_.indices.at_least(blocks * static_cast<std::size_t>(kernel.lanes) * sizeof(std::int64_t));
  stamp_ = memory_.stamp;
  most_lanes_ = kernel.lanes;
}

std::byte* BlockFrame::scratch(std::size_t bytes) {
  if (scratch_used_ == memory_.scratch.size()) memory_.scratch.push_back(std::make_unique<Block>());
  return memory_.scratch[scratch_used_++]->at_least(bytes);
}

std::int64_t* BlockFrame::index_block() {
  auto* const all = reinterpret_cast<std::int64_t*>(memory_.indices.at_least(0));
  return all + static_cast<std::int64_t>(index_blocks_++) * kernel_.lanes;
}

std::int64_t BlockFrame::integer(int operation) const {
  std::int64_t value = 0;
  std::memcpy(&value, values_[static_cast<std::size_t>(operation)], sizeof value);
  return value;
}

// Values.

void BlockFrame::new_block(std::int64_t n) {
  n_ = n;
  stamp_ = ++memory_.stamp;
  index_blocks_ = flat_first_ >= 0 ? loop_blocks_ : 0;
}

void BlockFrame::run_once(const StepList& list) {
  new_block(1);
  for (const Step& step : list.steps) {
    const Operation& one = kernel_.operations[static_cast<std::size_t>(step.operation)];
    std::byte* const slot =
        memory_.slots.at_least(0) + kernel_.slot_bytes * static_cast<std::size_t>(step.slot);
    std::byte* const made = compute(step, slot);
    if (one.fills_block) {
      fill_lanes(slot, made, one.bytes, most_lanes_);
      values_[static_cast<std::size_t>(step.operation)] = slot;
    } else {
      values_[static_cast<std::size_t>(step.operation)] = made;
    }
  }
}

void BlockFrame::run(const StepList& list, std::int64_t n) {
  new_block(n);
  targets_.resize(list.stores.size());
  for (std::size_t k = 0; k < list.stores.size(); ++k) {
    const StoreCode& store = kernel_.stores[static_cast<std::size_t>(list.stores[k])];
    targets_[k] = store.depends_on_values ? LaneIndex{} : index(store.address);
  }
  for (const Step& step : list.steps) {
    std::byte* to =
        memory_.slots.at_least(0) + kernel_.slot_bytes * static_cast<std::size_t>(step.slot);
    if (step.store >= 0 && targets_[static_cast<std::size_t>(step.store)].is_contiguous()) {
      const StoreCode& store =
          kernel_
              .stores[static_cast<std::size_t>(list.stores[static_cast<std::size_t>(step.store)])];
      to = buffer(store.operand) + targets_[static_cast<std::size_t>(step.store)].base *
                                       static_cast<std::int64_t>(store.bytes);
    }
    values_[static_cast<std::size_t>(step.operation)] = compute(step, to);
  }
  for (std::size_t k = 0; k < list.stores.size(); ++k) {
    const StoreCode& store = kernel_.stores[static_cast<std::size_t>(list.stores[k])];
    const LaneIndex at = store.depends_on_values ? index(store.address) : targets_[k];
    put(store, at, n);
  }
}

void BlockFrame::put(const StoreCode& store, const LaneIndex& at, std::int64_t n) {
  const std::byte* const from = values_[static_cast<std::size_t>(store.value)];
  if (!store.combine) return scatter_lanes(buffer(store.operand), at, from, store.bytes, n);
  const auto* const guard =
      reinterpret_cast<const unsigned char*>(values_[static_cast<std::size_t>(store.guard)]);
  combine_lanes(buffer(store.operand), at, from, guard, store.dtype,
                *store.combine == ir::Op::scatter_add, n);
}

void BlockFrame::store(const StepList& list, std::int64_t n) {
  new_block(n);
  for (const int i : list.stores) {
    const StoreCode& store = kernel_.stores[static_cast<std::size_t>(i)];
    put(store, index(store.address), n);
  }
}

/// The first argument as int64.
const std::int64_t* BlockFrame::indices_of(const Operation& one) {
  const std::byte* const from = values_[static_cast<std::size_t>(one.arguments[0])];
  if (one.to_index == nullptr) return reinterpret_cast<const std::int64_t*>(from);
  std::int64_t* const values = index_block();
  const void* const sources[] = {from};
  one.to_index(values, sources, n_);
  return values;
}

std::byte* BlockFrame::load(const Operation& one, std::byte* to) {
  const LaneIndex at = index(one.address);
  if (one.guarded) {
    guarded_load(one, at, to);
    return to;
  }
  std::byte* const from = buffer(one.operand);
  if ((at.is_contiguous() || n_ == 1) && kernel_.is_alone[static_cast<std::size_t>(one.operand)])
    return from + at.at(0) * static_cast<std::int64_t>(one.bytes);
  gather_lanes(to, from, at, one.bytes, n_);
  return to;
}

void BlockFrame::guarded_load(const Operation& one, const LaneIndex& at, std::byte* to) {
  const auto* const guard =
      reinterpret_cast<const unsigned char*>(values_[static_cast<std::size_t>(one.arguments[0])]);
  const auto n = static_cast<std::size_t>(n_);
  const bool all_equal = std::memcmp(guard, guard + 1, n - 1) == 0;
  if (!all_equal) return gather_guarded_lanes(to, buffer(one.operand), at, guard, one.bytes, n_);
  if (*guard != 0) return gather_lanes(to, buffer(one.operand), at, one.bytes, n_);
  std::memset(to, 0, one.bytes * n);
}

std::byte* BlockFrame::compute(const Step& step, std::byte* to) {
  const Operation& one = kernel_.operations[static_cast<std::size_t>(step.operation)];
  switch (one.kind) {
    case Kind::load:
      return load(one, to);
    case Kind::constant:
      std::memcpy(to, one.bits.data(), one.bytes);
      return to;
    case Kind::scalar:
      std::memcpy(to, scalars_ + one.scalar_word, one.bytes);
      return to;
    case Kind::index: {
      const LaneIndex at = index(one.address);
      std::int64_t* const values =
          one.loop == nullptr ? reinterpret_cast<std::int64_t*>(to) : index_block();
      write_indices(values, at, n_);
      const void* const sources[] = {values};
      if (one.loop != nullptr) one.loop(to, sources, n_);
      return to;
    }
    case Kind::within:
      within_lanes(to, index(one.address), size(one.begin), size(one.end), size(one.step), n_);
      return to;
    case Kind::apply:
    case Kind::cast: {
      std::array<const void*, 8> sources{};
      for (std::size_t k = 0; k < one.arguments.size(); ++k)
        sources[k] = values_[static_cast<std::size_t>(one.arguments[k])];
      if (one.loop == nullptr) {
        std::memcpy(to, sources[0], one.bytes * static_cast<std::size_t>(n_));
      } else {
        one.loop(to, sources.data(), n_);
      }
      return to;
    }
    case Kind::position:
      position_lanes(to, indices_of(one), size(one.end), n_);
      return to;
    case Kind::inside:
      inside_lanes(to, indices_of(one), size(one.end), n_);
      return to;
    case Kind::bound:
      bound_lanes(to, indices_of(one), size(one.end), one.is_clipped_unsigned, n_);
      return to;
    case Kind::search:
      one.search(to, values_[static_cast<std::size_t>(one.arguments[0])], buffer(one.operand),
                 size(one.end), n_);
      return to;
    case Kind::scanned:
      kernel_.reductions[static_cast<std::size_t>(one.reduction)].scan->finish(
          to, states_[static_cast<std::size_t>(one.reduction)], n_);
      return to;
    case Kind::reduced:
      kernel_.reductions[static_cast<std::size_t>(one.reduction)].loops->finish(
          to, states_[static_cast<std::size_t>(one.reduction)], n_);
      return to;
    default:
      throw InternalError("blocks cannot run this kind of instruction");
  }
}

}  // namespace heddle::runtime::host
