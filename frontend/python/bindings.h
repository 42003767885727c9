#pragma once

#include "frontend/python/function.h"

namespace heddle::python {

// Each function binds one header of the C++ library.
void bind_creation(Functions& functions);
void bind_differences(Functions& functions);
void bind_dynamic_slices(Functions& functions);
void bind_elementwise(Functions& functions);
void bind_fft(Functions& functions);
void bind_functional(Functions& functions);
void bind_control(Functions& functions);
void bind_grids(Functions& functions);
void bind_index_arrays(Functions& functions);
void bind_joining(Functions& functions);
void bind_kernels(Functions& functions);
void bind_linear_algebra(Functions& functions);
void bind_linalg(Functions& functions);
/// The functions of heddle/spectral.h, in the submodule linalg.
void bind_spectral(Functions& functions, nb::module_& module);
void bind_manipulation(Functions& functions);
void bind_matrices(Functions& functions);
void bind_memory(Functions& functions);
/// Streams, events, devices and pinned memory, in the private submodule _cuda.
void bind_cuda(Functions& functions);
void bind_cuda_devices(nb::module_& module);
void bind_pinned_memory(nb::module_& module);
void bind_nnet(Functions& functions);
void bind_packing(Functions& functions);
void bind_polynomials(Functions& functions);
void bind_random(Functions& functions);
/// A method of random.Generator.
void bind_multivariate_normal(Functions& functions, nb::handle owner);
void bind_raw_kernels(Functions& functions);
void bind_rearranging(Functions& functions);
void bind_reductions(Functions& functions);
void bind_scans(Functions& functions);
void bind_selection(Functions& functions);
void bind_statistics(Functions& functions);
void bind_take(Functions& functions);
void bind_text_files(Functions& functions);
void bind_settings(Functions& functions);
void bind_profile(Functions& functions);
void bind_quantiles(Functions& functions);  ///< and histograms
void bind_sets(Functions& functions);
void bind_sparse(Functions& functions);
void bind_sorting(Functions& functions);  ///< and searching
void bind_windows(Functions& functions);

/// The class heddle.Array, without methods that are also functions of the module.
void bind_array(nb::module_& module);
void bind_array_properties(nb::class_<ArrayObject>& type);
void bind_array_methods(Functions& functions);
/// Files of arrays, .npy and .npz.
void bind_array_files(Functions& functions);
/// Methods of numpy.ndarray that are not also functions of the module.
void bind_numpy_methods(Functions& functions);
/// jit, jitted functions and their lowered programs.
void bind_program_classes(nb::module_& module);
void bind_programs(Functions& functions);
void bind_jit_classes(nb::module_& module);
void bind_jit(Functions& functions);
/// Conversion of elements from and to Python objects and NumPy arrays.
void bind_host(Functions& functions);
/// Functions of dtypes only: result_type, can_cast, isdtype ...
void bind_promotion(Functions& functions);

/// The only element as a Python bool. Evaluates and waits with the GIL released.
bool truth(const Array& array, const SourceLocation& where);
/// The only element as a Python number of its kind.
nb::object item(const Array& array, const SourceLocation& where);
/// All elements in nested lists.
nb::object to_list(const Array& array, const SourceLocation& where);
/// A NumPy array with a copy of the elements.
nb::object to_numpy(const Array& array, const SourceLocation& where);
/// numpy.asarray of anything but an Array. Without `dtype`, the result has NumPy's dtype.
Array from_python(nb::handle value, std::optional<DType> dtype, const SourceLocation& where);

/// Sharing memory with other libraries.
void bind_export(Functions& functions);
void bind_import(Functions& functions);
nb::object from_dlpack(nb::handle producer, nb::handle device, nb::handle copy,
                       const SourceLocation& where);
/// The elements of an object with __cuda_array_interface__ or __dlpack__; nullopt for anything
/// else. `copy`: see from_dlpack.
std::optional<nb::object> from_exchange(nb::handle value, nb::handle copy,
                                        const SourceLocation& where);

// x[key] and x[key] = value.
nb::object get_item(ArrayObject& array, nb::handle key, const SourceLocation& where);
void set_item(ArrayObject& array, nb::handle key, nb::handle value, const SourceLocation& where);

/// The first argument's complex conjugate; the argument itself if it is not complex.
inline nb::object conjugated(const Arguments& a) {
  return is_complex(a.array(0).dtype()) ? wrap(a.array(0).conj(a.where())) : nb::borrow(a[0]);
}

}  // namespace heddle::python
