#pragma once

#include <vector>

#include "frontend/graph/node.h"
#include "ir/graph/graph.h"
#include "ir/graph/sliced_op.h"

namespace heddle::frontend {

/// A value of vectorised work: one for all slices, or one for each slice along a leading axis.
struct Slices {
  NodeRef node;
  bool varies = false;
};

/// Records graphs for many slices at once: an op whose operands vary gets a leading axis of slices.
/// Loops and branches stay loops and branches. Ops that take no such axis become a control.scan
/// over the slices.
class SliceRecorder {
 public:
  SliceRecorder(ir::Dim count, const SourceLocation& where) : count_(count), where_(where) {}

  /// The outputs for inputs that are given in the order of the graph's parameters. TraceError if a
  /// user's kernel writes to an operand that varies, or arrays that vary are exchanged.
  std::vector<Slices> run(const ir::Graph& graph, const std::vector<Slices>& inputs) const;

  /// The value with the leading axis; repeated if it is the same for all slices.
  NodeRef with_slices(const Slices& value, const Site& site) const;

 private:
  using Results = std::vector<Slices>;

  Results record_node(const ir::Graph& graph, ir::ValueId id, std::vector<Slices> operands) const;
  Results record_varying(const ir::Graph& graph, ir::ValueId id,
                         std::vector<Slices> operands) const;
  Results record_in_a_loop(const ir::Graph& graph, ir::ValueId id,
                           const std::vector<Slices>& operands) const;
  Results record_scan(const ir::CallData& call, std::vector<Slices> operands,
                      const Site& site) const;
  Results record_while(const ir::CallData& call, std::vector<Slices> operands,
                       const Site& site) const;
  Results record_switch(const ir::CallData& call, std::vector<Slices> operands,
                        const Site& site) const;
  Results select_branch(const ir::CallData& call, const Slices& index,
                        const std::vector<Slices>& operands, const Site& site) const;

  void prepare(Slices& operand, const ir::SlicedOp& op, std::size_t i, const Site& site) const;
  Slices record_index_of_extreme(const ir::Graph& graph, ir::ValueId id,
                                 const Slices& operand) const;
  ir::Shape sliced(const ir::Shape& shape) const;

  ir::Dim count_;
  SourceLocation where_;
};

/// Inserts axes of extent 1 after the axis of slices, so that a value that varies broadcasts with
/// others of the given rank, the axis of slices not counted.
void align_slices(Slices& value, std::size_t rank, const Site& site);

/// Which outputs may vary where these parameters of the graph vary.
std::vector<bool> varying_outputs(const ir::Graph& graph, const std::vector<bool>& parameters);

/// The line in the user's program.
Site site_of(const ir::Node& node);

}  // namespace heddle::frontend
