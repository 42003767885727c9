#pragma once

#include <cstdint>
#include <vector>

#include "passes/groups/index.h"

namespace heddle::runtime::host {

/// An index for each lane of a block: base + k * stride, plus values[k] if there are values.
struct LaneIndex {
  std::int64_t base = 0, stride = 0;
  const std::int64_t* values = nullptr;

  std::int64_t at(std::int64_t k) const {
    return base + k * stride + (values != nullptr ? values[k] : 0);
  }
  bool is_uniform() const { return stride == 0 && values == nullptr; }
  bool is_contiguous() const { return stride == 1 && values == nullptr; }
};

/// A passes::Index whose atoms and extents are numbered within one kernel. Extents and coefficients
/// are indices into the kernel's sizes.
struct IndexCode {
  struct Term {
    int atom;
    int coefficient;
  };
  int offset = 0;
  std::vector<Term> terms;
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
