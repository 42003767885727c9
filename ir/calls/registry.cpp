#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/fork_gate.h"
#include "ir/calls/attention.h"
#include "ir/calls/calls.h"
#include "ir/calls/collective.h"
#include "ir/calls/gram.h"
#include "ir/calls/inverse.h"

namespace heddle::ir {

namespace {

// clang-format off
constexpr const CallOp& (*table[])() = {
    calls::matmul,
    calls::attention,
    calls::gram_parts,
    calls::sort,
    calls::argsort,
    calls::cholesky,
    calls::lu,
    calls::solve,
    calls::inverse,
    calls::slogdet,
    calls::geqrf,
    calls::householder_product,
    calls::solve_triangular,
    calls::permutation_of_pivots,
    calls::fft,
    calls::rfft,
    calls::irfft,
    calls::svd,
    calls::svd_jacobi,
    calls::svdvals,
    calls::eigh,
    calls::eigvalsh,
    calls::eig,
    calls::eigvals,
    calls::scan,
    calls::while_loop,
    calls::switch_case,
    calls::element_loop,
    calls::user_map,
    calls::user_write,
    calls::collective,
};
// clang-format on

/// Created at first use and never destroyed, because nodes point to its ops.
struct Registry {
  std::vector<const CallOp*> table_ops;
  std::map<std::string_view, const CallOp*> by_name;  ///< includes ops that are registered later
  Mutex mutex;                                        ///< guards by_name
};

Registry& registry() {
  static Registry& registry = *[] {
    auto* made = new Registry;
    for (const auto op : table) {
      made->table_ops.push_back(&op());
      made->by_name.emplace(op().name, &op());
    }
    return made;
  }();
  return registry;
}

}  // namespace

std::span<const CallOp* const> call_ops() { return registry().table_ops; }

const CallOp* find_call_op(std::string_view name) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().by_name.find(name);
  return found == registry().by_name.end() ? nullptr : found->second;
}

bool broadcasts_batches(const CallOp& op) { return &op == &calls::matmul(); }

void register_call_op(const CallOp& op) {
  const std::lock_guard lock(registry().mutex);
  if (!registry().by_name.emplace(op.name, &op).second)
    throw ValueError(
        fmt::format("a call op '{}' is already registered; choose another name", op.name));
}

Attributes call_attributes(const CallOp& op, std::initializer_list<NamedAttribute> attributes,
                           std::vector<Region> regions) {
  Attributes made;
  made.call = make_call(op, {attributes.begin(), attributes.size()}, std::move(regions));
  return made;
}

}  // namespace heddle::ir
