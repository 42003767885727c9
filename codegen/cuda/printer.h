#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/common/body.h"
#include "codegen/common/printers.h"

namespace heddle::codegen {

/// Prints one plan as CUDA C++. Each of elements.cpp, rows.cpp, columns.cpp, scan.cpp and sort.cpp
/// holds one kind of mapping.
class CudaPrinter {
 public:
  explicit CudaPrinter(const passes::KernelPlan& plan);
  KernelSource print();

 private:
  using Stores = std::vector<const passes::Store*>;

  void signature();

  void elements();
  /// Whether the fast quotients and roots of a thread's elements are numerous enough to justify one
  /// branch for all of them, before anything is stored.
  bool has_quick_way(const std::vector<int>& wanted, const Stores& stores,
                     const passes::Loop& loop) const;
  const passes::Loop& held_loop() const;
  void begin_held_elements();
  void open_held_elements(bool loads);
  void tiles();
  void stage_tiles(const passes::Loop& across, const passes::Loop& last);
  void open_tile(const passes::Loop& along, const passes::Loop& other);
  std::string tile_place(const std::string& across, const std::string& along) const;

  void rows();
  void row_values(int stage);
  void row_stage(int stage);
  /// Issues the loads that the plan holds in registers, all before the first is used. `open` opens
  /// the loop over h.
  void hold_loads(const std::string& valid, const std::function<void()>& open);
  void open_held();
  void row_body(int stage);
  void row_results();

  void scan_rows();
  void scan_columns();
  /// Declares the block's number, or with look-back its ticket, "tile" and the number of "tiles".
  void scan_block(const std::string& rows_a_tile);
  /// Prints both passes over a thread's elements: from elements to states, and from scanned states
  /// to stored results.
  void scan_passes(const passes::Loop& along, const std::string& valid, const std::string& inside,
                   const std::function<void()>& open, const std::function<void()>& combine);
  void scan_states(const passes::Loop& along, const std::string& valid, const std::string& inside,
                   const std::function<void()>& open);
  void scan_results(const passes::Loop& along, const std::string& valid, const std::string& inside,
                    const std::function<void()>& open);
  void scan_row_values(const std::string& leads);
  std::string tile_place(std::size_t scan, const std::string& row, const std::string& slot,
                         const std::string& rows) const;
  void sort();
  void items();
  void item_stores(const passes::ItemPhase& phase);
  void item_routine(const passes::ItemRoutine& routine, const std::vector<std::string>& tables);
  std::string item_array(int operand, const char* slot) const;
  std::string item_index(int operand, const std::string& address);

  void columns();
  void column_values(int stage);
  void column_stage(int stage);
  void column_body(int stage);
  void column_results();
  void open_held_column();
  /// Declares, inside the loop over vector lanes, the column's values that the instructions in
  /// scope need.
  void name_column_values(const std::vector<int>& roots);

  /// Declares the range of the inner loops for this block: begin and end, in multiples of `unit`.
  void split_range(int unit);
  void open_exchanges();
  /// Combines `states`, an array, over the cluster. The first call waits until all exchanges are
  /// open.
  void reduce_cluster(std::size_t reduction, const std::string& states);
  bool has_tail(const passes::Loop& loop) const;
  /// Whether one access covers the elements of all vector lanes.
  bool is_vector(const passes::Store& store, const passes::Loop& loop) const;
  bool is_vector(const passes::Instruction& load, const passes::Loop& loop) const;
  std::string load_text(const passes::Instruction& load);
  /// Declares the values needed for the addresses of whole vectors.
  void vector_addresses(const std::vector<int>& wanted, const passes::Loop& loop);
  /// Prints loads of whole vectors before the loop over vector lanes.
  void vector_loads(const std::vector<int>& wanted, const passes::Loop& loop,
                    const std::string& valid);
  /// Opens the loop over vector lanes and sets the loop variable for each lane. With `clamp`, lanes
  /// past the end use the last element, so that their loads are valid; their values are not used.
  void open_lanes(const passes::Loop& loop, bool clamp);
  void close_lanes();
  /// The lane index: "k", or "0" if there is one lane.
  const char* lane() const { return plan_.vector > 1 ? "k" : "0"; }
  void declare_all(const std::vector<int>& instructions);
  void declare_stores(const Stores& stores, const passes::Loop& loop);
  const char* store_name(const passes::Store& store) const;
  void lane_stores(const Stores& stores, const passes::Loop& loop, const std::string& guard);
  void combine_in_memory(const passes::Store& store, const std::string& guard);
  void vector_stores(const Stores& stores, const passes::Loop& loop, const std::string& valid);
  /// Prints the code with fast quotients and, for the case that `rare` is set, again with exact
  /// ones.
  void print_with_exact_fallback(const std::function<void()>& print);
  void print_fast_pass(int stage, const char* name, const std::function<void()>& walk);
  /// Whether the reduction is a folded sum (KernelPlan::folding), or the stage contains one.
  bool folds(const passes::Reduction& reduction) const;
  bool folds(int stage) const;
  void fold_states(int stage);
  /// Opens the loop over r, from `first` in steps of `stride`. close_row_loop also closes the loop
  /// over h of held elements, which begins with fold_held.
  void open_row_loop(int stage, const std::string& first, int stride);
  void close_row_loop(int stage);
  void fold_held(int stage);
  /// `first` is the index of the first element of lane k.
  void define_states(int stage, const std::string& first);
  void finish_states(int stage, const std::string& first);
  static bool tracks_index(const passes::Reduction& reduction);
  void combine_states(int stage, const std::string& position);

  const passes::KernelPlan& plan_;
  Writer out_;
  Body body_;
  std::vector<std::string> lane_of_;  ///< loads that are part of a vector: text that reads the
                                      ///< lane; else empty
  std::vector<std::vector<std::string>> tables_;  ///< items: names, by routine
};

}  // namespace heddle::codegen
