#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "runtime/host/blocks/block_frame.h"
#include "runtime/host/blocks/lane_copies.h"

namespace heddle::runtime::host {

void BlockFrame::set_loops(int first, const std::vector<LoopCode>& loops, std::int64_t flat) {
  for (std::size_t i = loops.size(); i-- > 0;) {
    const std::int64_t extent = size(loops[i].extent);
    set_loop(first + static_cast<int>(i), i == 0 ? flat : flat % extent);
    if (i > 0) flat /= extent;
  }
}

// Lanes across loops.

bool BlockFrame::is_flat(const std::vector<LoopCode>& loops) const {
  return loops.size() > 1 && size(loops.back().extent) < short_loop;
}

void BlockFrame::set_flat(int first, const std::vector<LoopCode>& loops, std::int64_t flat,
                          std::int64_t n) {
  index_blocks_ = 0;
  flat_first_ = first;
  flat_count_ = static_cast<int>(loops.size());
  flat_loops_ = &loops;
  flat_begin_ = flat;
  set_loops(first, loops, flat);
  const std::size_t count = loops.size();
  std::array<std::int64_t, 64> at{};
  std::array<std::int64_t*, 64> bases{};
  for (std::size_t i = 0; i < count; ++i) {
    at[i] = loops_[static_cast<std::size_t>(first) + i].base;
    bases[i] = index_block();
  }
  runs_ = {size(loops.back().extent), at[count - 1]};
  run_count_ = (runs_.first + n - 1) / runs_.length + 1;
  for (std::int64_t run = 0; run < run_count_; ++run) {
    for (std::size_t i = 0; i + 1 < count; ++i) bases[i][run] = at[i];
    bases[count - 1][run] = 0;
    ++at[count - 2];
    for (std::size_t i = count - 1; i-- > 1 && at[i] == size(loops[i].extent);) {
      at[i] = 0;
      ++at[i - 1];
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    LaneIndex& loop = loops_[static_cast<std::size_t>(first) + i];
    loop = {0, i + 1 == count ? 1 : 0, nullptr, &runs_, bases[i]};
  }
  loop_blocks_ = index_blocks_;
}

/// An index that counts on across the loops' ends needs no values.
LaneIndex BlockFrame::flat_index(const IndexCode& code, bool& known) const {
  known = false;
  const auto count = static_cast<std::size_t>(flat_count_);
  std::array<std::int64_t, 64> coefficients;  // of which the first `count` are used
  std::fill_n(coefficients.begin(), count, 0);
  std::int64_t base = size(code.offset);
  for (const IndexCode::Term& term : code.terms) {
    const AtomCode& atom = kernel_.atoms[static_cast<std::size_t>(term.atom)];
    if (atom.kind != passes::Atom::Kind::loop) return {};
    const int loop = atom.loop - flat_first_;
    if (loop < 0 || loop >= flat_count_) {
      base += size(term.coefficient) * loops_[static_cast<std::size_t>(atom.loop)].base;
    } else {
      coefficients[static_cast<std::size_t>(loop)] = size(term.coefficient);
    }
  }
  for (std::size_t i = count - 1; i-- > 0;) {
    if (coefficients[i] != coefficients[i + 1] * size((*flat_loops_)[i + 1].extent)) return {};
  }
  known = true;
  return {base + coefficients[count - 1] * flat_begin_, coefficients[count - 1]};
}

// Indices.

LaneIndex BlockFrame::index(const IndexCode& code) {
  if (code.is_of_loops && flat_first_ < 0) {  // most are
    LaneIndex sum{size(code.offset)};
    for (const IndexCode::Term& term : code.terms) {
      const LaneIndex& loop = loops_[static_cast<std::size_t>(term.loop)];
      const std::int64_t coefficient = size(term.coefficient);
      sum.base += coefficient * loop.base;
      sum.stride += coefficient * loop.stride;
    }
    return sum;
  }
  if (flat_first_ >= 0 && n_ > 1) {
    bool known = false;
    const LaneIndex flat = flat_index(code, known);
    if (known) return flat;
  }
  LaneIndex sum{size(code.offset)};
  std::int64_t* bases = nullptr;
  bool has_values = false;
  for (const IndexCode::Term& term : code.terms) {
    const LaneIndex one = atom(term.atom);
    const std::int64_t coefficient = size(term.coefficient);
    has_values |= one.values != nullptr;
    sum.base += coefficient * one.base;
    sum.stride += coefficient * one.stride;
    if (one.runs == nullptr) continue;
    const bool is_first = bases == nullptr;
    if (is_first) bases = index_block();
    for (std::int64_t run = 0; run < run_count_; ++run)
      bases[run] = (is_first ? 0 : bases[run]) + coefficient * one.bases[run];
  }
  if (bases != nullptr) {
    for (std::int64_t run = 0; run < run_count_; ++run) bases[run] += sum.base;
    sum = {0, sum.stride, nullptr, &runs_, bases};
  }
  return has_values ? with_values(without_runs(sum), code) : sum;
}

/// Adds the terms that differ from lane to lane without order.
LaneIndex BlockFrame::with_values(LaneIndex sum, const IndexCode& code) {
  std::int64_t* values = nullptr;
  for (const IndexCode::Term& term : code.terms) {
    const LaneIndex one = atom(term.atom);
    const std::int64_t coefficient = size(term.coefficient);
    if (one.values == nullptr) continue;
    if (coefficient == 1 && sum.values == nullptr) {
      sum.values = one.values;
      continue;
    }
    const std::int64_t* const before = sum.values;
    if (values == nullptr) values = index_block();
    for (std::int64_t k = 0; k < n_; ++k)
      values[k] = (before != nullptr ? before[k] : 0) + coefficient * one.values[k];
    sum.values = values;
  }
  return sum;
}

/// The same index with a value for each lane instead of runs.
LaneIndex BlockFrame::without_runs(const LaneIndex& index) {
  if (index.runs == nullptr) return index;
  std::int64_t* const values = index_block();
  write_indices(values, index, n_);
  return {0, 0, values};
}

LaneIndex BlockFrame::atom(int number) {
  const AtomCode& code = kernel_.atoms[static_cast<std::size_t>(number)];
  if (code.kind == passes::Atom::Kind::loop) {
    const LaneIndex& loop = loops_[static_cast<std::size_t>(code.loop)];
    // A single value of lanes that cross loops.
    if (n_ == 1 && loop.runs != nullptr) return {loop.at(0)};
    return loop;
  }
  const auto at = static_cast<std::size_t>(number);
  if (atom_stamps_[at] != stamp_) {
    atom_values_[at] =
        code.kind == passes::Atom::Kind::computed ? computed(code.instruction) : divided(code);
    atom_stamps_[at] = stamp_;
  }
  return atom_values_[at];
}

LaneIndex BlockFrame::computed(int operation) {
  const Operation& one = kernel_.operations[static_cast<std::size_t>(operation)];
  const auto* const values =
      reinterpret_cast<const std::int64_t*>(values_[static_cast<std::size_t>(operation)]);
  if (n_ == 1 || one.is_fixed || one.is_of_row) return {values[0]};
  return {0, 0, values};
}

LaneIndex BlockFrame::divided(const AtomCode& code) {
  const LaneIndex numerator = without_runs(index(code.numerator));
  const bool is_quotient = code.kind == passes::Atom::Kind::quotient;
  // Expressions computed alongside a guarded load may divide by an extent of 0.
  const std::int64_t divisor = std::max<std::int64_t>(size(code.divisor), 1);
  if (n_ == 1 || numerator.is_uniform()) {
    const std::int64_t value = numerator.at(0);
    return {is_quotient ? value / divisor : value % divisor};
  }
  std::int64_t* const values = index_block();
  if (numerator.values == nullptr && numerator.base >= 0 && numerator.stride > 0 &&
      numerator.stride <= divisor) {
    std::int64_t quotient = numerator.base / divisor, rest = numerator.base % divisor;
    for (std::int64_t k = 0; k < n_; ++k) {
      values[k] = is_quotient ? quotient : rest;
      rest += numerator.stride;
      if (rest >= divisor) {
        rest -= divisor;
        ++quotient;
      }
    }
    return {0, 0, values};
  }
  const auto divide_all = [&](const auto& quotient_of) {
    for (std::int64_t k = 0; k < n_; ++k) {
      const std::int64_t value = numerator.at(k), quotient = quotient_of(value);
      values[k] = is_quotient ? quotient : value - quotient * divisor;
    }
  };
  const auto bits = static_cast<std::uint64_t>(divisor);
  if (std::has_single_bit(bits)) {
    const int shift = std::countr_zero(bits);
    // Rounds towards zero, as a division does.
    divide_all([&](std::int64_t x) { return (x + ((x >> 63) & (divisor - 1))) >> shift; });
  } else {
    divide_all([&](std::int64_t x) { return x / divisor; });
  }
  return {0, 0, values};
}

}  // namespace heddle::runtime::host
