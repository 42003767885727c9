#include "runtime/cuda/calls.h"

#include "passes/calls/gemm.h"
#include "passes/plan/sort.h"
#include "runtime/calls/cholesky.h"
#include "runtime/calls/handlers.h"
#include "runtime/cuda/libraries/cusolver.h"

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

/// Cholesky factorisations, by cuSOLVER.
class CusolverCholesky final : public PreparedCholesky {
 public:
  using PreparedCholesky::PreparedCholesky;

 private:
  void factorise(void* matrices, std::int32_t* infos, const CallBuffers& frame) const override {
    static const Label& label =
        *new Label(std::make_shared<const std::string>("workspace of a Cholesky factorisation"));
    cusolver::cholesky(
        dtype_, upper_, n_, batch_, matrices, infos,
        [&](std::size_t bytes) { return frame.allocate(bytes, label); }, frame.stream());
  }
};

const SortHandler sort_handler;
const CholeskyHandler<CusolverCholesky> cholesky_handler;

}  // namespace

const CallHandler* call_handler(std::string_view name) {
  if (name == passes::gemm_handler) return &gemm_call_handler();
  if (name == passes::sort_handler) return &sort_handler;
  return name == "linalg.cholesky" ? &cholesky_handler : nullptr;
}

}  // namespace heddle::runtime::cuda
