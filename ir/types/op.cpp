#include "ir/types/op.h"

#include <array>
#include <string>
#include <unordered_map>

namespace heddle::ir {
namespace {

constexpr OpInfo fixed_op(Op op, std::string_view name, OpKind kind, int arity, DTypeSet dtypes,
                          std::string_view numpy) {
  return {op, name, kind, arity, TypeRule::none, dtypes, no_trait, numpy, Domain::any, 0, 1};
}

constexpr OpInfo reduction_op(Op op, std::string_view name, DTypeSet dtypes,
                              std::string_view numpy) {
  return {op, name, OpKind::reduction, -1, TypeRule::none, dtypes, no_trait, numpy, Domain::any,
          1,  1};
}

constexpr OpInfo table[] = {
    fixed_op(Op::parameter, "parameter", OpKind::source, 0, all_dtypes, ""),
    fixed_op(Op::constant, "constant", OpKind::source, 0, all_dtypes, "numpy.array"),
    fixed_op(Op::iota, "iota", OpKind::source, 0, reals, "numpy.arange"),
    {Op::cast, "cast", OpKind::elementwise, 1, TypeRule::none, all_dtypes, no_trait,
     "numpy.ndarray.astype", Domain::any, 0, 1},
#define HD_OP(name, arity, rule, dtypes, traits, numpy, domain, ulp, cost) \
  {Op::name,                                                               \
   #name,                                                                  \
   OpKind::elementwise,                                                    \
   arity,                                                                  \
   TypeRule::rule,                                                         \
   dtypes,                                                                 \
   traits,                                                                 \
   numpy,                                                                  \
   Domain::domain,                                                         \
   ulp,                                                                    \
   cost},
#include "heddle/ops.def"
#undef HD_OP
    fixed_op(Op::reshape, "reshape", OpKind::view, 1, all_dtypes, "numpy.reshape"),
    fixed_op(Op::transpose, "transpose", OpKind::view, 1, all_dtypes, "numpy.transpose"),
    fixed_op(Op::broadcast_to, "broadcast_to", OpKind::view, 1, all_dtypes, "numpy.broadcast_to"),
    fixed_op(Op::slice, "slice", OpKind::view, 1, all_dtypes, "numpy.ndarray.__getitem__"),
    fixed_op(Op::concatenate, "concatenate", OpKind::piecewise, -1, all_dtypes,
             "numpy.concatenate"),
    fixed_op(Op::slice_update, "slice_update", OpKind::piecewise, 2, all_dtypes,
             "numpy.ndarray.__setitem__"),
    fixed_op(Op::gather, "gather", OpKind::gather, -1, all_dtypes, "numpy.take_along_axis"),
    fixed_op(Op::scatter_add, "scatter_add", OpKind::scatter, -1, wide_integers, "numpy.add.at"),
    fixed_op(Op::scatter_max, "scatter_max", OpKind::scatter, -1, wide_unsigned_integers,
             "numpy.maximum.at"),
#define HD_REDUCTION(name, result, dtypes, numpy) reduction_op(Op::name, #name, dtypes, numpy),
#include "heddle/reductions.def"
#undef HD_REDUCTION
#define HD_SCAN(name, dtypes, numpy) fixed_op(Op::name, #name, OpKind::scan, -1, dtypes, numpy),
#include "heddle/scans.def"
#undef HD_SCAN
    fixed_op(Op::call, "call", OpKind::call, -1, all_dtypes, ""),
    fixed_op(Op::result, "result", OpKind::call, 1, all_dtypes, ""),
    {Op::searchsorted_left, "searchsorted_left", OpKind::search, 2, TypeRule::none, numbers,
     no_trait, "numpy.searchsorted", Domain::any, 0, 100},
    {Op::searchsorted_right, "searchsorted_right", OpKind::search, 2, TypeRule::none, numbers,
     no_trait, "numpy.searchsorted(x, y, 'right')", Domain::any, 0, 100},
};
static_assert(std::size(table) == op_count);

/// Checks that row i of the table describes the op with enumerator i, as info() requires.
constexpr bool rows_stand_in_order() {
  for (std::size_t i = 0; i < std::size(table); ++i) {
    if (table[i].op != static_cast<Op>(i) || table[i].dtypes == 0) return false;
  }
  return true;
}
static_assert(rows_stand_in_order());

}  // namespace

const OpInfo& info(Op op) { return table[static_cast<std::size_t>(op)]; }

std::optional<Op> op_from_name(std::string_view name) {
  static const auto* const by_name = [] {
    auto* map = new std::unordered_map<std::string_view, Op>;
    for (const OpInfo& row : table) map->emplace(row.name, row.op);
    return map;
  }();
  auto found = by_name->find(name);
  if (found == by_name->end()) return std::nullopt;
  return found->second;
}

}  // namespace heddle::ir
