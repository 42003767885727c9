#include "runtime/cuda/calls.h"

#include "passes/calls/gemm.h"
#include "passes/plan/sort.h"
#include "runtime/calls/collective.h"
#include "runtime/calls/handler_table.h"
#include "runtime/calls/handlers.h"
#include "runtime/calls/permutation.h"
#include "runtime/cuda/matrix_calls.h"
#include "runtime/launch/control_calls.h"

namespace heddle::runtime::cuda {

namespace {

/// Sorts, with kernels of the program itself.
class SortHandler final : public CallHandler {
 public:
  CallWork prepare(const passes::CallStep& step, const CallContext& context) const override {
    const passes::SortCall sort = passes::sort_of(step);
    return passes::launches(sort, sort.rows.evaluate(context.bindings),
                            sort.length.evaluate(context.bindings));
  }
};

const CallHandler& sort_calls() {
  static const SortHandler handler;
  return handler;
}

constexpr NamedHandler handlers[] = {
    {passes::gemm_handler, gemm_call_handler},
    {passes::sort_handler, sort_calls},
    {"linalg.cholesky", cholesky_handler},
    {"linalg.lu", lu_handler},
    {"linalg.solve", solve_handler},
    {"linalg.geqrf", geqrf_handler},
    {"linalg.householder_product", householder_product_handler},
    {"linalg.solve_triangular", solve_triangular_handler},
    {"linalg.permutation_of_pivots", permutation_handler},
    {"linalg.svd", svd_handler},
    {"linalg.svd_jacobi", svd_jacobi_handler},
    {"linalg.svdvals", svdvals_handler},
    {"linalg.eigh", eigh_handler},
    {"linalg.eigvalsh", eigvalsh_handler},
    {"linalg.eig", eig_handler},
    {"linalg.eigvals", eigvals_handler},
    {"control.scan", scan_handler},
    {"control.while", while_handler},
    {"control.switch", switch_handler},
    {"distributed.collective", collective_handler},
};

}  // namespace

const CallHandler* call_handler(std::string_view name) { return find_handler(handlers, name); }

}  // namespace heddle::runtime::cuda
