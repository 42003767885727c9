#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/common/body.h"
#include "codegen/common/printers.h"

namespace heddle::codegen {

/// Alignment of every array on a kernel's stack. Without it, GCC 12 with AVX-512 may assume more
/// alignment for an array than the function's prologue gives the stack, and the kernel crashes.
inline constexpr const char* aligned = "alignas(64) ";

/// Prints one plan as C++ for the host. rows.cpp and columns.cpp print reductions, scan.cpp scans,
/// items.cpp calls on items, signature.cpp the parameters of a kernel, and printer.cpp the rest.
/// strips.cpp prints the conversions of float16 for all of them.
class HostPrinter {
 public:
  explicit HostPrinter(const passes::KernelPlan& plan);
  KernelSource print();

 private:
  /// A parameter of the inner function, which contains the loops.
  struct Pointer {
    std::size_t operand;
    std::string type;
    bool alone;  ///< no other pointer refers to its memory
  };
  std::vector<Pointer> pointers() const;
  void open_body();
  void entry();
  void unpack();
  void hide_extents();
  void elements();
  void looped_elements(const passes::Loop& along, const char* first, const char* stop,
                       const std::vector<int>& roots);
  void declare_lanes(int instruction, const std::string& name);
  void begin_lanes(const passes::Instruction& statement, const std::function<void()>& open_lanes);
  void run_lanes(const passes::Instruction& statement, const std::function<void()>& open_lanes);
  void tiles();
  void items();
  void item_stores(const passes::ItemPhase& phase);
  void item_routine(const passes::ItemRoutine& routine, const std::vector<std::string>& tables);
  void rows();
  void first_segment();
  void row_values(int stage);
  void row_stage(int stage);
  void row_parts();
  void row_extreme(int reduction);
  void open_blocks(const std::string& length);
  void row_runs(const passes::HostPass& pass);
  void tree_of_runs(const passes::HostPass& pass);
  void walk_of_run(const passes::HostPass& pass, const std::string& states);
  void row_lanes(const passes::HostPass& pass);
  void lanes_of_row(const passes::HostPass& pass);
  void lanes_of_run(const passes::HostPass& pass, const char* first, const char* stop,
                    const std::function<void()>& one_element);
  void row_results();
  void columns();
  void begin_columns(int reduction);
  void column_passes();
  void column_pass(const passes::HostPass& pass);
  void column_lanes(const passes::HostPass& pass);
  void column_visit(const passes::HostPass& pass);
  void begin_leaves(const std::vector<int>& reductions);
  void add_leaves(const std::vector<int>& reductions);
  void column_rows(const passes::HostPass& pass, const char* step, const char* stop, bool leaves);
  std::string column_states(const std::vector<int>& reductions, const char* format_of_state,
                            const char* format_of_key) const;
  void scan_rows();
  void scan_columns();
  void scan_run(const std::string& variable, const std::string& first,
                const std::function<void(std::size_t)>& scan);
  void scan_earlier_parts(const std::string& element, const std::string& count);
  void scan_row_stores();
  bool leaves_parts() const;
  void split_range(const char* part);
  std::string run_length() const;
  void chunk_of_unknown(const std::string& walk, const std::string& most_parts);
  /// Opens a loop over the runs of the last loop within [from, to). In each run, the loop variable
  /// goes from `first` to `stop`.
  void open_runs(const std::vector<passes::Loop>& loops, const std::string& from,
                 const std::string& to);
  void declare_all(const std::vector<int>& instructions);
  std::string element(int load);
  std::string storage(const passes::KernelOperand& operand) const;
  std::string number(DType dtype, const std::string& stored) const;
  void store(const passes::Store& store);
  void put(int operand, const passes::Index& address, int value);
  /// The instructions that a pass needs for each element.
  std::vector<int> roots_of(const passes::HostPass& pass) const;
  void store_all(const passes::HostPass& pass);
  void strips(const passes::HostPass& pass, const passes::Loop& loop,
              const std::function<void(const char* first, const char* stop)>& walk);

  const passes::KernelPlan& plan_;
  Writer out_;
  Body body_;
  /// Inside a strip's loop: the float variables that hold the float16 elements of a load or store.
  std::unordered_map<int, std::string> widened_;
  std::unordered_map<const passes::Store*, std::string> narrowed_;
  std::vector<std::vector<std::string>> tables_;  ///< items: for each routine, its tables' names
};

}  // namespace heddle::codegen
