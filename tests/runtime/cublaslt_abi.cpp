// Runs in the compiler, where the toolkit's headers are: what runtime/cuda/libraries/cublaslt_abi.h
// says of cuBLASLt is what its own header says.
#ifdef HEDDLE_CUBLASLT_HEADER

#include "runtime/cuda/libraries/cublaslt_abi.h"

#include <cstddef>
#include <type_traits>

#include <cublasLt.h>

namespace heddle::runtime::cublaslt {
namespace {

#define SAME(ours, theirs) static_assert(static_cast<long>(ours) == static_cast<long>(theirs))

SAME(Status::success, CUBLAS_STATUS_SUCCESS);
SAME(Status::invalid_value, CUBLAS_STATUS_INVALID_VALUE);
SAME(Status::arch_mismatch, CUBLAS_STATUS_ARCH_MISMATCH);
SAME(Status::not_supported, CUBLAS_STATUS_NOT_SUPPORTED);
SAME(DataType::f32, CUDA_R_32F);
SAME(DataType::f64, CUDA_R_64F);
SAME(DataType::f16, CUDA_R_16F);
SAME(DataType::bf16, CUDA_R_16BF);
SAME(ComputeType::f32, CUBLAS_COMPUTE_32F);
SAME(ComputeType::f64, CUBLAS_COMPUTE_64F);
SAME(ComputeType::f32_as_bf16, CUBLAS_COMPUTE_32F_FAST_16BF);
SAME(ComputeType::f32_as_tf32, CUBLAS_COMPUTE_32F_FAST_TF32);
SAME(Transpose::none, CUBLAS_OP_N);
SAME(Transpose::transpose, CUBLAS_OP_T);
SAME(OperationAttribute::transpose_a, CUBLASLT_MATMUL_DESC_TRANSA);
SAME(OperationAttribute::transpose_b, CUBLASLT_MATMUL_DESC_TRANSB);
SAME(OperationAttribute::epilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
SAME(OperationAttribute::bias_pointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
SAME(LayoutAttribute::batch_count, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
SAME(LayoutAttribute::strided_batch_offset, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
SAME(PreferenceAttribute::max_workspace_bytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
SAME(PreferenceAttribute::reduction_scheme_mask, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
SAME(PreferenceAttribute::min_alignment_a_bytes, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
SAME(PreferenceAttribute::min_alignment_b_bytes, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
SAME(PreferenceAttribute::min_alignment_c_bytes, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
SAME(PreferenceAttribute::min_alignment_d_bytes, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
SAME(epilogues::none, CUBLASLT_EPILOGUE_DEFAULT);
SAME(epilogues::relu, CUBLASLT_EPILOGUE_RELU);
SAME(epilogues::bias, CUBLASLT_EPILOGUE_BIAS);
SAME(epilogues::relu | epilogues::bias, CUBLASLT_EPILOGUE_RELU_BIAS);
SAME(epilogues::gelu, CUBLASLT_EPILOGUE_GELU);
SAME(epilogues::gelu | epilogues::bias, CUBLASLT_EPILOGUE_GELU_BIAS);
SAME(reduction_in_compute_type, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
SAME(sizeof(Algorithm), sizeof(cublasLtMatmulAlgo_t));
SAME(sizeof(HeuristicResult), sizeof(cublasLtMatmulHeuristicResult_t));
SAME(offsetof(HeuristicResult, workspace_bytes),
     offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
SAME(offsetof(HeuristicResult, state), offsetof(cublasLtMatmulHeuristicResult_t, state));

/// The same parameters, each as large: enums are ints, and descriptors pointers.
template <class Ours, class Theirs>
constexpr bool same_call = false;
template <class R, class... A, class S, class... B>
constexpr bool same_call<R (*)(A...), S (*)(B...)> = [] {
  if constexpr (sizeof...(A) != sizeof...(B)) {
    return false;
  } else {
    return sizeof(R) == sizeof(S) &&
           ((sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>) && ...);
  }
}();

#define SAME_CALL(name) static_assert(same_call<decltype(Api::name), decltype(&::name)>)
SAME_CALL(cublasLtCreate);
SAME_CALL(cublasLtGetVersion);
SAME_CALL(cublasLtGetStatusString);
SAME_CALL(cublasLtMatmulDescCreate);
SAME_CALL(cublasLtMatmulDescDestroy);
SAME_CALL(cublasLtMatmulDescSetAttribute);
SAME_CALL(cublasLtMatrixLayoutCreate);
SAME_CALL(cublasLtMatrixLayoutDestroy);
SAME_CALL(cublasLtMatrixLayoutSetAttribute);
SAME_CALL(cublasLtMatmulPreferenceCreate);
SAME_CALL(cublasLtMatmulPreferenceDestroy);
SAME_CALL(cublasLtMatmulPreferenceSetAttribute);
SAME_CALL(cublasLtMatmulAlgoGetHeuristic);
SAME_CALL(cublasLtMatmulAlgoCheck);
SAME_CALL(cublasLtMatmul);

}  // namespace
}  // namespace heddle::runtime::cublaslt

#endif
