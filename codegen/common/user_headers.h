#pragma once

#include <string>

namespace heddle::codegen {

/// The text of the header `cupy/complex.cuh`, which users' CUDA code may include: complex<float>
/// and complex<double> with operators and functions, also as thrust::complex. It includes nothing.
const std::string& complex_header();

}  // namespace heddle::codegen
