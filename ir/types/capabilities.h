#pragma once

#include "ir/types/target.h"

namespace heddle::ir {

/// Rough rates, good enough to weigh arithmetic against memory.
struct Rates {
  double slots_per_us = 0, bytes_per_us = 0, launch_us = 0;
};

/// What machines of one kind can do. Planning asks this, never for the kind itself.
struct Capabilities {
  /// A kernel runs as blocks of threads that share memory. Otherwise it is a range of elements or
  /// rows, of which each thread takes a part.
  bool blocks = false;
  /// Rows are added up in the order of their elements, so that neighbours should be read one after
  /// the other by the same thread.
  bool ordered_rows = false;
  /// Stores can bypass the caches.
  bool streaming_stores = false;
  /// How many operations one on float16 or bfloat16 costs.
  int half_operations = 1;
  /// Sorts run as kernels of the program. Otherwise the runtime sorts.
  bool kernel_sorts = false;
  /// Dot and outer products are faster as kernels than as calls of the library.
  bool kernel_dots = false;
  /// The library multiplies matrices of float16 and bfloat16 ...
  bool gemm_halves = false;
  /// ... also into float32.
  bool gemm_widens = false;
  /// The library applies what follows a product: a bias, an activation, a residual.
  bool gemm_epilogues = false;
  Rates rates;
};

const Capabilities& capabilities_of(const Target& target);

}  // namespace heddle::ir
