#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/common/body.h"
#include "codegen/common/printers.h"

namespace heddle::codegen {

/// Prints one plan. cuda_elements.cpp, cuda_rows.cpp, cuda_columns.cpp, cuda_scan.cpp and
/// cuda_sort.cpp hold a kind each.
class CudaPrinter {
 public:
  explicit CudaPrinter(const passes::KernelPlan& plan);
  KernelSource print();

 private:
  using Stores = std::vector<const passes::Store*>;

  void signature();

  void elements();
  /// Whether several quotients and roots of a thread's elements are worth a branch for all of them,
  /// before anything is stored.
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
  /// Makes the loads that the plan holds, all before the first is used. `open` opens the loop over
  /// h of a walk.
  void hold_loads(const std::string& valid, const std::function<void()>& open);
  void open_held();
  void row_body(int stage);
  void row_results();

  void scan_rows();
  void scan_columns();
  /// The block's number, or its ticket; with look-back also "tile" and how many "tiles".
  void scan_block(const std::string& rows_a_tile);
  /// Both walks over what a thread holds: into states, and from scans to what is stored.
  void scan_walks(const passes::Loop& along, const std::string& valid, const std::string& inside,
                  const std::function<void()>& open, const std::function<void()>& combine);
  void scan_states(const passes::Loop& along, const std::string& valid, const std::string& inside,
                   const std::function<void()>& open);
  void scan_results(const passes::Loop& along, const std::string& valid, const std::string& inside,
                    const std::function<void()>& open);
  void scan_row_values(const std::string& leads);
  std::string tile_place(std::size_t scan, const std::string& row, const std::string& slot,
                         const std::string& rows) const;
  void sort();

  void columns();
  void column_values(int stage);
  void column_stage(int stage);
  void column_body(int stage);
  void column_results();
  void open_held_column();
  /// Names, in a loop over lanes, the values of the column that the instructions in scope need.
  void name_column_values(const std::vector<int>& roots);

  /// The part of the inner loops that this block walks: begin and end, in whole `unit`s.
  void split_range(int unit);
  void open_exchanges();
  /// Combines `states`, an array, over the cluster. The first call awaits the exchanges.
  void reduce_cluster(std::size_t reduction, const std::string& states);
  bool has_tail(const passes::Loop& loop) const;
  /// Whether one access moves the elements of all lanes.
  bool is_vector(const passes::Store& store, const passes::Loop& loop) const;
  bool is_vector(const passes::Instruction& load, const passes::Loop& loop) const;
  std::string load_text(const passes::Instruction& load);
  /// Declares the values that the addresses of whole vectors are made of.
  void vector_addresses(const std::vector<int>& wanted, const passes::Loop& loop);
  /// Loads that move a whole vector, made before the loop over its lanes.
  void vector_loads(const std::vector<int>& wanted, const passes::Loop& loop,
                    const std::string& valid);
  /// Opens the loop over lanes, in which the loop's variable is the lane's. Past the end it stays
  /// on the last element, so that loads are valid and their values unused.
  void open_lanes(const passes::Loop& loop, bool clamp);
  void close_lanes();
  /// What indexes the lane: "k", or "0" where there is one.
  const char* lane() const { return plan_.vector > 1 ? "k" : "0"; }
  void declare_all(const std::vector<int>& instructions);
  void declare_stores(const Stores& stores, const passes::Loop& loop);
  const char* store_name(const passes::Store& store) const;
  void lane_stores(const Stores& stores, const passes::Loop& loop, const std::string& guard);
  void combine_in_memory(const passes::Store& store, const std::string& guard);
  void vector_stores(const Stores& stores, const passes::Loop& loop, const std::string& valid);
  /// Prints it with quick quotients and, for where `rare` says so, again without.
  void quickly_or_again(const std::function<void()>& print);
  void walk_quickly(int stage, const char* name, const std::function<void()>& walk);
  /// Whether it is a sum that is folded (KernelPlan::fold), or the stage has one.
  bool folds(const passes::Reduction& reduction) const;
  bool folds(int stage) const;
  void fold_states(int stage);
  /// The loop over r, from `first` on in steps of `stride`. close_walk also closes the loop over h
  /// of what is held, at whose beginning fold_held stands.
  void open_walk(int stage, const std::string& first, int stride);
  void close_walk(int stage);
  void fold_held(int stage);
  /// `first` is the place of lane k's first element.
  void define_states(int stage, const std::string& first);
  void finish_states(int stage, const std::string& first);
  static bool walks_places(const passes::Reduction& reduction);
  void combine_states(int stage, const std::string& position);

  const passes::KernelPlan& plan_;
  Writer out_;
  Body body_;
  std::vector<std::string> lane_of_;  ///< loads that are in a vector: what a lane reads, or empty
};

}  // namespace heddle::codegen
