#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "passes/plan/kernel_plan.h"
#include "runtime/host/blocks/lane_index.h"
#include "runtime/host/blocks/ready_loops.h"

namespace heddle::runtime::host {

/// Loops whose last extent is less than this take lanes across its end. Then loads are copied run
/// by run; else a block is short.
constexpr std::int64_t short_loop = 160;

/// An instruction of a plan. Its op is a ready-made loop. Its extents are indices into the kernel's
/// sizes.
struct Operation {
  using Kind = passes::Instruction::Kind;
  Kind kind = Kind::constant;
  DType dtype = DType::f32;
  std::size_t bytes = 0;  ///< of an element
  std::vector<int> arguments;
  heddle_blocks::MapLoop loop = nullptr;  ///< apply, cast; index: from int64, null to int64
  heddle_blocks::SearchLoop search = nullptr;
  heddle_blocks::MapLoop to_index =
      nullptr;                       ///< position, bound, inside: of arguments[0], to int64
  bool is_clipped_unsigned = false;  ///< bound: arguments[0] is unsigned of 64 bits
  bool guarded = false;
  int operand = -1;
  IndexCode address;
  int begin = -1, end = -1, step = -1;  ///< sizes
  std::array<std::byte, 16> bits{};
  int scalar_word = -1;  ///< first word of the scalar among the kernel's scalars
  int reduction = -1;
  double lane_nanoseconds = 0;  ///< approximate
  /// Computed once for a launch, or once for a row.
  bool is_fixed = false, is_of_row = false;
  bool fills_block = false;  ///< operations on blocks read such a value
};

struct Step {
  int operation;
  int slot;        ///< of the block with its value
  int store = -1;  ///< the store of the list that may take the value as it is computed
};

/// Operations that are computed together for a block of lanes, then stored.
struct StepList {
  std::vector<Step> steps;
  std::vector<int> stores;
};

struct StoreCode {
  int value = -1, operand = -1, guard = -1;
  std::optional<ir::Op> combine;  ///< with the element in memory, where the guard is true
  DType dtype = DType::f32;
  std::size_t bytes = 0;
  IndexCode address;
  bool depends_on_values = false;
};

struct ReductionCode {
  const heddle_blocks::ReductionLoops* loops = nullptr;  ///< null for a scan
  const heddle_blocks::ScanLoops* scan = nullptr;
  int value = -1, begins = -1, first = -1, last = -1, partials = -1, stage = 0;
  bool ordered = false, in_columns_order = false, by_extreme = false;
};

/// A pass over the elements of a stage: passes::HostPass.
struct PassCode {
  int stage = 0;
  std::vector<int> reductions;
  int states = 0, state_bytes = 0;
  bool in_blocks = false;
  StepList list;
};

struct LoopCode {
  int extent;  ///< size
};

/// A kernel plan that runs without being compiled: block by block, each operation by a ready-made
/// loop. Gives the bits that the compiled kernel gives.
struct BlockKernel {
  /// Why blocks cannot run the plan; empty if they can.
  static std::string refusal(const passes::KernelPlan& plan);
  /// Requires that refusal(plan) is empty. Keeps no reference to the plan.
  BlockKernel(const passes::KernelPlan& plan, const ReadyLoops& loops);

  /// As a compiled kernel (HostFunction). Thread-safe.
  void run(void* const* buffers, const std::int64_t* scalars, std::int64_t begin,
           std::int64_t end) const;

  /// Approximate time of a launch of `units` units of work on one thread, in nanoseconds.
  double nanoseconds(const std::int64_t* scalars, std::int64_t units) const;

  // What the executor of a mapping reads. Sizes are evaluated for each launch.
  passes::Mapping mapping = passes::Mapping::elements;
  std::vector<passes::Dim> sizes;
  std::vector<std::int64_t> constant_sizes;  ///< if no size has symbols
  std::vector<ir::SymbolId> symbols;
  std::vector<LoopCode> outer, inner;  ///< loops are numbered: outer, then inner
  std::vector<AtomCode> atoms;
  std::vector<Operation> operations;
  std::vector<StoreCode> stores;
  std::vector<ReductionCode> reductions;
  std::vector<bool> is_alone;  ///< operand: no other operand shares its memory
  std::size_t slot_bytes = 0;
  int slot_count = 0;
  std::int64_t lanes = 0;  ///< of a block

  StepList fixed;                 ///< once a launch
  StepList all;                   ///< elements, tiles: each element
  std::vector<StepList> of_rows;  ///< rows: by stage; columns: the segment's bounds
  std::vector<PassCode> passes;
  std::vector<StepList> extremes;  ///< rows: for each reduction that is found by its extreme
  StepList finish;                 ///< rows, columns: what follows the reductions
  StepList scanned, results;       ///< scans: the elements, and what follows from their scans

  int outer_total = -1, inner_total = -1, parts_of = -1, batches = -1;  ///< sizes
  int segments = -1;                                                    ///< size: how many
  int stages = 1, split = 1, tile_edge = 0, tile_loop = -1;
  std::int64_t least_part = 0, part_length = 0, column_width = 0;
  int segment = -1;             ///< a reduction with segments, or -1
  bool combines_parts = false;  ///< the reductions' states come from partials
  bool leaves_parts = false;    ///< the first of two kernels of a scan: stores totals of parts
  int crossings = 0;            ///< loads and stores that are copied where lanes cross loops
};

/// Fills in the lists and slots of a kernel whose operations, stores and reductions are numbered.
void make_lists(BlockKernel& kernel, const passes::KernelPlan& plan);

}  // namespace heddle::runtime::host
