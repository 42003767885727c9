#include <nanobind/nanobind.h>

#include "frontend/array/at_once.h"
#include "frontend/python/bindings.h"
#include "frontend/python/distributed.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "frontend/python/interrupts.h"
#include "frontend/python/ufunc.h"

NB_MODULE(_heddle, module) {
  using namespace heddle::python;
  // Arrays may outlive the interpreter, so the library is not torn down and leak warnings are off.
  nanobind::set_leak_warnings(false);
  module.attr("__version__") = HEDDLE_VERSION;
  bind_errors(module);
  raise_interrupts_in_waits();
  heddle::frontend::allow_computing_at_once();
  bind_dtypes(module);
  bind_array(module);
  bind_function_type(module);
  bind_ufunc_type(module);
  bind_program_classes(module);
  bind_jit_classes(module);
  Functions functions(module);
  bind_array_methods(functions);
  bind_host(functions);
  bind_array_files(functions);
  bind_export(functions);
  bind_import(functions);
  bind_promotion(functions);
  bind_settings(functions);
  bind_profile(functions);
  bind_memory(functions);
  bind_cuda(functions);
  bind_creation(functions);
  bind_grids(functions);
  bind_elementwise(functions);
  bind_selection(functions);
  bind_take(functions);
  bind_dynamic_slices(functions);
  bind_index_arrays(functions);
  bind_packing(functions);
  bind_functional(functions);
  bind_control(functions);
  bind_kernels(functions);
  bind_raw_kernels(functions);
  bind_text_files(functions);
  bind_reductions(functions);
  functions.cast_outs(true);
  bind_scans(functions);
  functions.cast_outs(false);
  bind_manipulation(functions);
  bind_rearranging(functions);
  bind_joining(functions);
  bind_matrices(functions);
  bind_differences(functions);
  bind_linear_algebra(functions);
  bind_fft(functions);
  bind_nnet(functions);
  bind_sparse(functions);
  bind_distributed(functions);
  bind_linalg(functions);
  bind_polynomials(functions);
  bind_statistics(functions);
  bind_sorting(functions);
  bind_sets(functions);
  bind_quantiles(functions);
  bind_windows(functions);
  bind_jit(functions);
  bind_programs(functions);
  bind_random(functions);
  bind_numpy_methods(functions);
}
