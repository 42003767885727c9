#include "runtime/host/calls.h"

#include "passes/calls/gemm.h"
#include "passes/plan/sort.h"
#include "runtime/calls/collective.h"
#include "runtime/calls/handler_table.h"
#include "runtime/calls/handlers.h"
#include "runtime/calls/permutation.h"
#include "runtime/host/matrix_calls.h"
#include "runtime/host/sort_rows.h"
#include "runtime/launch/control_calls.h"

namespace heddle::runtime::host {

namespace {

/// Sorts with the runtime's own code.
class PreparedSort final : public PreparedCall {
 public:
  PreparedSort(passes::SortCall sort, std::int64_t rows, std::int64_t length)
      : sort_(std::move(sort)), rows_(rows), length_(length) {}

  Outcome enqueue(const CallBuffers& frame) const override {
    sort_rows(sort_.dtype, sort_.indices, frame.address(sort_.keys), frame.address(sort_.out),
              frame.address(sort_.scratch[0]), rows_, length_);
    return Outcome::enqueued;
  }

 private:
  passes::SortCall sort_;
  std::int64_t rows_, length_;
};

class SortHandler final : public CallHandler {
 public:
  CallWork prepare(const passes::CallStep& step, const CallContext& context) const override {
    passes::SortCall sort = passes::sort_of(step);
    const std::int64_t rows = sort.rows.evaluate(context.bindings);
    const std::int64_t length = sort.length.evaluate(context.bindings);
    if (rows == 0 || length == 0) return CallWork();
    return std::make_unique<const PreparedSort>(std::move(sort), rows, length);
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

}  // namespace heddle::runtime::host
