#include "heddle/kernels.h"

#include "frontend/array/access.h"
#include "frontend/python/array_object.h"
#include "frontend/python/bindings.h"
#include "frontend/python/foreign.h"

namespace heddle::python {
namespace {

/// The arguments of a kernel: Arrays, numbers, and what else becomes an Array.
class KernelOperands {
 public:
  KernelOperands(nb::handle sequence, const SourceLocation& where) {
    const std::size_t count = nb::len(sequence);
    arrays_.reserve(count);  // operands point to them
    for (nb::handle given : sequence) {
      // A NumPy scalar is a number, which takes the dtype of its parameter.
      const bool is_item = is_numpy_scalar(given);
      const nb::object value = is_item ? given.attr("item")() : nb::borrow(given);
      if (const std::optional<Scalar> scalar = as_scalar(value)) {
        operands_.emplace_back(*scalar, where);
        continue;
      }
      const ArrayObject* const array = as_array(value);
      if (array != nullptr) {
        arrays_.push_back(array->read(where));
      } else if (const std::optional<nb::object> shared = exchanged_operand(value, where)) {
        arrays_.push_back(as_array(*shared)->read(where));
      } else {
        arrays_.push_back(from_python(value, std::nullopt, where));
      }
      operands_.emplace_back(arrays_.back(), where);
    }
  }
  std::span<const Operand> all() const { return operands_; }

 private:
  std::vector<Array> arrays_;
  std::vector<Operand> operands_;
};

nb::object elementwise(const Arguments& a) {
  const auto& kernel = nb::cast<const ElementwiseKernel&>(a[0]);
  const KernelOperands inputs(a[1], a.where());
  const std::vector<Array> initial = a.arrays(3);
  return to_result(
      kernel.outputs(inputs.all(), {.size = a.optional_integer(2), .initial = initial}, a.where()));
}

nb::object reduction(const Arguments& a) {
  const auto& kernel = nb::cast<const ReductionKernel&>(a[0]);
  const KernelOperands inputs(a[1], a.where());
  const std::vector<Array> bound = a.arrays(4);
  return to_result(kernel.outputs(inputs.all(), a.reduced_axes(2), a.flag(3), bound, a.where()));
}

}  // namespace

// What the classes of heddle/_kernels.py call.
void bind_kernels(Functions& functions) {
  nb::module_& module = functions.module();
  functions.def("_value_number(x: Array, /) -> int",
                "A number of the value that the Array has now; another one when it is written.",
                [](const Arguments& a) {
                  const frontend::NodeRef& node = frontend::Access::raw(a.object(0).base().value);
                  return nb::int_(reinterpret_cast<std::uintptr_t>(node.get()));
                });
  nb::class_<ElementwiseKernel> elementwise_kernel(module, "_ElementwiseKernel");
  elementwise_kernel.def("__init__",
                         [](ElementwiseKernel* self, const char* in_params, const char* out_params,
                            const char* operation, const char* name, const char* preamble,
                            const char* loop_prep, const char* after_loop) {
                           new (self) ElementwiseKernel(in_params, out_params, operation, name,
                                                        {preamble, loop_prep, after_loop});
                         });
  functions.def_in(elementwise_kernel,
                   "call(self, inputs: Sequence[Operand], size: int | None, "
                   "initial: Sequence[Array]) -> list[Array]",
                   "The outputs.", [](const Arguments& a) { return elementwise(a); });
  nb::class_<ReductionKernel> reduction_kernel(module, "_ReductionKernel");
  reduction_kernel.def(
      "__init__",
      [](ReductionKernel* self, const char* in_params, const char* out_params, const char* map_expr,
         const char* reduce_expr, const char* post_map_expr, const char* identity, const char* name,
         const char* reduce_type, const char* preamble) {
        new (self) ReductionKernel(in_params, out_params, map_expr, reduce_expr, post_map_expr,
                                   identity, name, reduce_type, preamble);
      });
  functions.def_in(reduction_kernel,
                   "call(self, inputs: Sequence[Operand], axis: int | tuple[int, ...] | None, "
                   "keepdims: bool, bound: Sequence[Array]) -> list[Array]",
                   "The outputs.", [](const Arguments& a) { return reduction(a); });
}

}  // namespace heddle::python
