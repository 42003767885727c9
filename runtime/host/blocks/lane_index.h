#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "passes/groups/index.h"

namespace heddle::runtime::host {

/// The rows of a short last loop that the lanes of a block cross: `length` lanes each, of which the
/// first has begun `first` lanes before the block.
struct LaneRuns {
  std::int64_t length = 1, first = 0;
};

/// An index for each lane of a block: base + k * stride, plus values[k] if there are values. With
/// `runs`, bases[r] + c * stride for lane c of run r instead.
struct LaneIndex {
  std::int64_t base = 0, stride = 0;
  const std::int64_t* values = nullptr;
  const LaneRuns* runs = nullptr;
  const std::int64_t* bases = nullptr;

  std::int64_t at(std::int64_t k) const {
    if (runs != nullptr) {
      const std::int64_t lane = runs->first + k;
      return bases[lane / runs->length] + lane % runs->length * stride;
    }
    return base + k * stride + (values != nullptr ? values[k] : 0);
  }
  bool is_uniform() const { return stride == 0 && values == nullptr && runs == nullptr; }
  bool is_contiguous() const { return stride == 1 && values == nullptr && runs == nullptr; }
};

/// Calls visit(k, index, count) for the parts of `n` lanes that begin at lane k and have an index
/// without runs.
template <class Visit>
void for_runs(const LaneIndex& at, std::int64_t n, const Visit& visit) {
  if (at.runs == nullptr) return visit(std::int64_t{0}, at, n);
  std::int64_t lane = at.runs->first;
  const std::int64_t* base = at.bases;
  for (std::int64_t k = 0; k < n; ++base) {
    const std::int64_t count = std::min(at.runs->length - lane, n - k);
    visit(k, LaneIndex{*base + lane * at.stride, at.stride}, count);
    k += count;
    lane = 0;
  }
}

/// A passes::Index whose atoms and extents are numbered within one kernel. Extents and coefficients
/// are indices into the kernel's sizes.
struct IndexCode {
  struct Term {
    int atom;
    int coefficient;
    int loop;  ///< of which the atom is the variable, or -1
  };
  int offset = 0;
  std::vector<Term> terms;
  bool is_of_loops = true;  ///< all atoms are variables of loops
};

/// A passes::Atom that loops or instructions give.
struct AtomCode {
  passes::Atom::Kind kind = passes::Atom::Kind::loop;
  int loop = -1;         ///< number of the loop
  IndexCode numerator;   ///< of a quotient or remainder
  int divisor = -1;      ///< size
  int instruction = -1;  ///< computed
};

}  // namespace heddle::runtime::host
