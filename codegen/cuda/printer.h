#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/common/body.h"
#include "codegen/common/printers.h"

namespace heddle::codegen {

/// Prints one plan as CUDA C++. elements.cpp prints the mappings elements and tiles; rows.cpp,
/// columns.cpp, scan.cpp, items.cpp and sort.cpp each print the kind of kernel in their name.
/// lanes.cpp has the loads and stores of vectors, states.cpp the states of reductions.
class CudaPrinter {
 public:
  explicit CudaPrinter(const passes::KernelPlan& plan);
  KernelSource print();

 private:
  using Stores = std::vector<const passes::Store*>;

  struct Parameter;

  void signature();
  void table_signature(const std::vector<Parameter>& parameters);
  std::string block_index() const;

  void elements();
  /// The work on one vector of elements, or on one held iteration.
  void element_vector(const Stores& stores, const std::vector<int>& roots);
  /// Whether a thread computes its elements with fast quotients and roots first, and again with
  /// exact ones if an operand was out of their range. True for at least three quotients and roots,
  /// if all stores are of whole vectors, which follow afterwards.
  bool has_quick_way(const std::vector<int>& wanted, const Stores& stores,
                     const passes::Loop& loop) const;
  /// The elements of the vector from `e` on, in rows that no vector divides (uneven_rows.cpp).
  void uneven_rows(const Stores& stores, const std::vector<int>& wanted);
  void vectors_of_a_row(const Stores& stores, const std::vector<int>& wanted,
                        const std::vector<passes::Loop>& row);
  void elements_of_two_rows(const Stores& stores, const std::vector<int>& wanted);
  const passes::Loop& held_loop() const;
  void begin_held_elements();
  void open_held_elements(bool loads);
  void tiles();
  void stage_tiles(const passes::Loop& across, const passes::Loop& last);
  /// Elements of a tile along one of its two loops.
  int tile_edge(const passes::Loop& loop) const;
  void open_tile(const passes::Loop& along, const passes::Loop& other);
  std::string tile_place(const std::string& across, const std::string& along) const;

  void rows();
  /// Declares the thread's `row` and its `lane` in that row. `block` is the text of the block's
  /// index.
  void thread_row(const std::string& block);
  /// Prints all that is done for `row`: the reductions, and the stores of results.
  void one_row();
  void row_values(int stage);
  void row_stage(int stage);
  void reduce_row(int stage);
  /// Prints the loads that the plan holds in registers, all before the first use of any. `open`
  /// prints the head of the loop over them, whose variable is h.
  void hold_loads(const std::string& valid, const std::function<void()>& open);
  void open_held();
  void row_body(int stage);
  std::vector<int> kept_values(int stage, const std::vector<int>& roots);
  void row_vector(int stage, const std::vector<int>& roots, const Stores& stores, bool tail);
  void row_results();

  void scan_rows();
  void scan_columns();
  /// Declares `block`, the index of the thread block. With look-back, declares `tiles`, the number
  /// of tiles in a row, and computes `tile` and `block` from a ticket.
  void scan_block(const std::string& rows_a_tile);
  /// Prints both passes over a thread's elements. The first computes states from elements; the
  /// second stores results from scanned states.
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
  void attention();
  void attention_rows(const char* name, const passes::BatchOfRows& rows);
  void attention_range();
  void attention_map();
  void decision(DType dtype);
  void items();
  void item_thread(bool interleaved, const char* slot, const char* lane);
  void item_stores(const passes::ItemPhase& phase);
  /// Declares the loop variables of `element`, or of the first of a vector of elements, and `item`.
  void item_position(const passes::ItemPhase& phase, const char* slot);
  void item_vector(const passes::ItemPhase& phase, int vector, const char* slot);
  void item_hold(const passes::Store& store);
  void item_store(const passes::Store& store);
  bool is_partial() const;
  void item_element(const passes::ItemPhase& phase, const char* slot);
  void item_source(const passes::ItemPhase& phase, int operand, int width, const std::string& name);
  void item_target(const passes::ItemPhase& phase, int result, int width);
  void item_routine(const passes::ItemPhase& phase, const std::vector<std::string>& tables);
  std::string item_array(int operand, const char* slot) const;
  std::string item_index(int operand, const std::string& address);

  void columns();
  void column_values(int stage);
  void column_stage(int stage);
  void column_body(int stage);
  void column_results();
  void open_held_column();
  /// Declares the values of the column that the instructions `roots` need, inside the loop over
  /// vector lanes.
  void name_column_values(const std::vector<int>& roots);

  /// Declares `begin` and `end`: this block's part of the inner loops, in multiples of `unit`.
  void split_range(int unit);
  void open_exchanges();
  /// Combines the array named `states` over the blocks of the cluster. The first call also waits
  /// until all blocks have opened their exchanges.
  void reduce_cluster(std::size_t reduction, const std::string& states);
  bool has_tail(const passes::Loop& loop) const;
  /// Whether one access covers the elements of all vector lanes.
  bool is_vector(const passes::Store& store, const passes::Loop& loop) const;
  bool is_vector(const passes::Instruction& load, const passes::Loop& loop) const;
  std::string load_text(const passes::Instruction& load);
  std::string shifted_load_text(const passes::Instruction& load);
  /// Declares the values needed for the addresses and guards of whole vectors.
  void vector_addresses(const std::vector<int>& wanted, const passes::Loop& loop);
  /// Prints loads of whole vectors before the loop over vector lanes.
  void vector_loads(const std::vector<int>& wanted, const passes::Loop& loop,
                    const std::string& valid);
  /// Opens the loop over vector lanes and sets the loop variable for each lane. With `clamp`, lanes
  /// past the end use the last element, so that their loads are valid; their values are not used.
  void open_lanes(const passes::Loop& loop, bool clamp);
  /// The head of this loop. Four truth values that are computed together count as one lane.
  void open_lane_loop();
  void close_lanes();
  /// The lane index: "k", or "0" if there is one lane.
  const char* lane() const { return plan_.vector > 1 ? "k" : "0"; }
  void declare_all(const std::vector<int>& instructions);
  void declare_stores(const Stores& stores, const passes::Loop& loop);
  const char* store_name(const passes::Store& store) const;
  void lane_stores(const Stores& stores, const passes::Loop& loop, const std::string& guard);
  void combine_in_memory(const passes::Store& store, const std::string& guard);
  void vector_stores(const Stores& stores, const passes::Loop& loop, const std::string& valid);
  /// Prints the code twice: with fast quotients, then with exact ones, which run if the variable
  /// `rare` of the kernel is true.
  void print_with_exact_fallback(const std::function<void()>& print);
  void print_fast_pass(int stage, const char* name, const std::function<void()>& walk);
  /// Whether the reduction is a folded sum (KernelPlan::folding), or the stage contains one.
  bool folds(const passes::Reduction& reduction) const;
  bool folds(int stage) const;
  void fold_states(int stage);
  /// Opens the loop over r, from `first` in steps of `stride`, times `lanes_` if that is set.
  /// close_row_loop closes this loop, or the loop over held elements, whose first statement is
  /// printed by fold_held.
  void open_row_loop(int stage, const std::string& first, int stride);
  /// The text of `steps`, times `lanes_` if that is set.
  std::string of_each_lane(int steps) const;
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
  bool whole_vectors_ = false;        ///< the code being printed runs for whole vectors only
  std::string lanes_;                 ///< the kernel's constant with the number of a row's
                                      ///< threads; empty if the plan's number holds for all rows
  std::vector<std::string> lane_of_;  ///< for each instruction: if it is a lane of a vector load,
                                      ///< the text that reads this lane; else empty
  std::vector<std::vector<std::string>> tables_;  ///< items: for each routine, its tables' names
};

}  // namespace heddle::codegen
