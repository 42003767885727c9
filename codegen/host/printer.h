#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/common/body.h"
#include "codegen/common/printers.h"

namespace heddle::codegen {

/// For every array on a kernel's stack: GCC's vectorizer may raise an array's alignment and the
/// function's prologue forget it (seen with GCC 12 and AVX-512), which one in two callers survives.
inline constexpr const char* aligned = "alignas(64) ";

/// Whether the reduction looks for a place by integer keys (ir/scalar/reduce.h).
inline bool finds_place(const passes::Reduction& reduction) {
  return reduction.value >= 0 && !is_complex(reduction.dtype) && ir::finds_place(reduction.op);
}

/// Prints one plan for the host. host_rows.cpp and host_columns.cpp hold the mappings of
/// reductions, host_scan.cpp those of scans, host_strips.cpp how halves are read and written in all
/// of them, and host_signature.cpp how the arrays come in.
class HostPrinter {
 public:
  explicit HostPrinter(const passes::KernelPlan& plan);
  KernelSource print();

 private:
  /// A parameter of the function that holds the loops.
  struct Pointer {
    std::size_t operand;
    std::string type;
    bool alone;  ///< nothing else points to its memory
  };
  std::vector<Pointer> pointers() const;
  void open_body();
  void entry();
  void unpack();
  void hide_extents();
  void elements();
  void tiles();
  void rows();
  void row_values(int stage);
  void row_stage(int stage);
  void row_parts();
  void row_extreme(int reduction);
  struct RowLanes {
    int count = 0;           ///< states side by side; 0: known at run time, `lanes.count`
    int state_bytes = 0;     ///< of what combines in the order of rows; 0: nothing does
    bool in_blocks = false;  ///< the row may have several blocks of that order
    bool ordered() const { return state_bytes > 0; }
  };
  std::vector<std::vector<int>> row_passes(int stage) const;
  void open_blocks(const std::string& length);
  void row_runs(const std::vector<int>& reductions,
                const std::vector<const passes::Store*>& stores);
  RowLanes lanes_for(const std::vector<int>& reductions) const;
  void row_lanes(const std::vector<int>& reductions,
                 const std::vector<const passes::Store*>& stores);
  void lanes_of_row(const std::vector<int>& reductions,
                    const std::vector<const passes::Store*>& stores, const RowLanes& lanes);
  void lanes_of_run(const std::vector<int>& reductions, const RowLanes& lanes, const char* first,
                    const char* stop, const std::function<void()>& one_element);
  void row_results();
  void columns();
  void begin_columns(int reduction);
  void column_passes();
  void column_pass(const std::vector<int>& reductions,
                   const std::vector<const passes::Store*>& stores);
  void column_lanes(const std::vector<int>& reductions,
                    const std::vector<const passes::Store*>& stores);
  void column_visit(const std::vector<int>& reductions,
                    const std::vector<const passes::Store*>& stores);
  void begin_leaves(const std::vector<int>& reductions);
  void add_leaves(const std::vector<int>& reductions);
  void column_rows(const std::vector<int>& reductions, const char* step, const char* stop,
                   bool leaves);
  int rows_at_once(const std::vector<int>& reductions) const;
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
  void chunk_of_unknown(const std::string& walk, const std::string& most_parts);
  /// Runs over the last loop: opens a loop over its runs within [from, to), its variable between
  /// `first` and `stop`.
  void open_runs(const std::vector<passes::Loop>& loops, const std::string& from,
                 const std::string& to);
  void declare_all(const std::vector<int>& instructions);
  std::string element(int load);
  std::string storage(const passes::KernelOperand& operand) const;
  std::string number(DType dtype, const std::string& stored) const;
  void store(const passes::Store& store);
  bool is_run(const passes::Index& address, const passes::Loop& loop) const;
  std::vector<const passes::Store*> narrowed_stores(const std::vector<const passes::Store*>& stores,
                                                    const passes::Loop& loop) const;
  std::vector<int> widened_loads(const std::vector<int>& instructions,
                                 const std::vector<const passes::Store*>& narrowed,
                                 const passes::Loop& loop) const;
  void strips(const std::vector<int>& instructions, const std::vector<const passes::Store*>& stores,
              const passes::Loop& loop,
              const std::function<void(const char* first, const char* stop)>& walk);

  const passes::KernelPlan& plan_;
  Writer out_;
  Body body_;
  /// Where a strip's loop finds the float of a load, and puts that of a store.
  std::unordered_map<int, std::string> widened_;
  std::unordered_map<const passes::Store*, std::string> narrowed_;
};

}  // namespace heddle::codegen
