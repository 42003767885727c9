#pragma once

namespace heddle::test {

// Programs that tests plan, print and count.

inline constexpr const char* pointwise_chain =
    R"(func @pointwise_chain(%0: f32[1000,64], %1: f32[64], %2: scalar f32) -> f32[1000,64] {
  %3 = multiply %0, %1 : f32[1000,64]
  %4 = add %3, %2 : f32[1000,64]
  %5 = tanh %4 : f32[1000,64]
  %6 = exp %5 : f32[1000,64]
  return %6
})";

inline constexpr const char* softmax = R"(func @softmax(%0: f32[512,96]) -> f32[512,96] {
  %1 = max %0 axes=[1] keepdims : f32[512,1]
  %2 = subtract %0, %1 : f32[512,96]
  %3 = exp %2 : f32[512,96]
  %4 = sum %3 axes=[1] keepdims : f32[512,1]
  %5 = divide %3, %4 : f32[512,96]
  return %5
})";

inline constexpr const char* wide_softmax =
    R"(func @wide_softmax(%0: f32[256,262144]) -> f32[256,262144] {
  %1 = max %0 axes=[1] keepdims : f32[256,1]
  %2 = subtract %0, %1 : f32[256,262144]
  %3 = exp %2 : f32[256,262144]
  %4 = sum %3 axes=[1] keepdims : f32[256,1]
  %5 = divide %3, %4 : f32[256,262144]
  return %5
})";

inline constexpr const char* layernorm =
    R"(func @layernorm(%0: f32[4096,1024], %1: f32[1024], %2: f32[1024]) -> f32[4096,1024] {
  %3 = sum %0 axes=[1] keepdims : f32[4096,1]
  %4 = constant 1024 : f32[]
  %5 = divide %3, %4 : f32[4096,1]
  %6 = subtract %0, %5 : f32[4096,1024]
  %7 = multiply %6, %6 : f32[4096,1024]
  %8 = sum %7 axes=[1] keepdims : f32[4096,1]
  %9 = divide %8, %4 : f32[4096,1]
  %10 = constant 1e-5 : f32[]
  %11 = add %9, %10 : f32[4096,1]
  %12 = sqrt %11 : f32[4096,1]
  %13 = divide %6, %12 : f32[4096,1024]
  %14 = multiply %13, %1 : f32[4096,1024]
  %15 = add %14, %2 : f32[4096,1024]
  return %15
})";

inline constexpr const char* sum_of_all = R"(func @sum_of_all(%0: f32[67108864]) -> f32[] {
  %1 = sum %0 axes=[0] : f32[]
  return %1
})";

inline constexpr const char* scan_in_company =
    R"(func @scan_in_company(%0: f32[512,1000]) -> f32[512,1000] {
  %1 = exp %0 : f32[512,1000]
  %2 = cumsum %1 axes=[1] : f32[512,1000]
  %3 = constant 2 : f32[]
  %4 = multiply %2, %3 : f32[512,1000]
  return %4
})";

inline constexpr const char* scan_of_columns =
    R"(func @scan_of_columns(%0: f32[4096,1024]) -> (f32[4096,1024], f32[4096,1024]) {
  %1 = exp %0 : f32[4096,1024]
  %2 = cumsum %1 axes=[0] : f32[4096,1024]
  %3 = subtract %2, %0 : f32[4096,1024]
  return %1, %3
})";

inline constexpr const char* scan_siblings =
    R"(func @scan_siblings(%0: f32[512,100]) -> (f32[512,100], f32[512,100], f32[512,100]) {
  %1 = cumsum %0 axes=[1] : f32[512,100]
  %2 = cummax %0 axes=[1] : f32[512,100]
  %3 = cumprod %0 axes=[1] : f32[512,100]
  return %1, %2, %3
})";

inline constexpr const char* scan_of_scan =
    R"(func @scan_of_scan(%0: f32[512,100]) -> f32[512,100] {
  %1 = cumsum %0 axes=[1] : f32[512,100]
  %2 = negative %1 : f32[512,100]
  %3 = cummax %2 axes=[1] : f32[512,100]
  return %3
})";

inline constexpr const char* long_scan =
    R"(func @long_scan(%0: f32[1000000], %1: scalar f32) -> f32[1000000] {
  %2 = multiply %0, %1 : f32[1000000]
  %3 = cumsum %2 axes=[0] : f32[1000000]
  return %3
})";

inline constexpr const char* digits =
    R"(func @digits(%0: f32[897,64], %1: f32[900,64]) -> i64[897] {
  %2 = reshape %0 : f32[897,1,64]
  %3 = reshape %1 : f32[1,900,64]
  %4 = subtract %2, %3 : f32[897,900,64]
  %5 = multiply %4, %4 : f32[897,900,64]
  %6 = sum %5 axes=[2] : f32[897,900]
  %7 = argmin %6 axes=[1] : i64[897]
  return %7
})";

inline constexpr const char* transposed = R"(func @transposed(%0: f32[512,256]) -> f32[256,512] {
  %1 = transpose %0 axes=[1,0] : f32[256,512]
  %2 = constant 2 : f32[]
  %3 = multiply %1, %2 : f32[256,512]
  %4 = constant 1 : f32[]
  %5 = add %3, %4 : f32[256,512]
  return %5
})";

inline constexpr const char* standardize =
    R"(func @standardize(%0: f32[8192,8192]) -> f32[8192,8192] {
  %1 = constant 8192 : f32[]
  %2 = sum %0 axes=[0] keepdims : f32[1,8192]
  %3 = divide %2, %1 : f32[1,8192]
  %4 = subtract %0, %3 : f32[8192,8192]
  %5 = multiply %4, %4 : f32[8192,8192]
  %6 = sum %5 axes=[0] keepdims : f32[1,8192]
  %7 = divide %6, %1 : f32[1,8192]
  %8 = sqrt %7 : f32[1,8192]
  %9 = divide %4, %8 : f32[8192,8192]
  return %9
})";

inline constexpr const char* concatenate_computed =
    R"(func @concatenate_computed(%0: f32[100,8], %1: f32[50,8]) -> f32[150,8] {
  %2 = exp %0 : f32[100,8]
  %3 = multiply %1, %1 : f32[50,8]
  %4 = concatenate %2, %3 axes=[0] : f32[150,8]
  %5 = negative %4 : f32[150,8]
  return %5
})";

inline constexpr const char* update_and_use =
    R"(func @update_and_use(%0: f32[100,8], %1: f32[10,8]) -> f32[100,8] {
  %2 = exp %1 : f32[10,8]
  %3 = slice_update %0, %2 starts=[5,0] steps=[2,1] shape=[10,8] : f32[100,8]
  %4 = negative %3 : f32[100,8]
  return %4
})";

inline constexpr const char* update = R"(func @update(%0: f32[100,8], %1: f32[10,8]) -> f32[100,8] {
  %2 = exp %1 : f32[10,8]
  %3 = slice_update %0, %2 starts=[5,0] steps=[2,1] shape=[10,8] : f32[100,8]
  return %3
})";

inline constexpr const char* mean_and_variance =
    R"(func @mean_and_variance(%0: f32[1024,512]) -> (f32[1024], f32[1024]) {
  %1 = constant 512 : f32[]
  %2 = sum %0 axes=[1] : f32[1024]
  %3 = divide %2, %1 : f32[1024]
  %4 = sum %0 axes=[1] keepdims : f32[1024,1]
  %5 = divide %4, %1 : f32[1024,1]
  %6 = subtract %0, %5 : f32[1024,512]
  %7 = multiply %6, %6 : f32[1024,512]
  %8 = sum %7 axes=[1] : f32[1024]
  %9 = divide %8, %1 : f32[1024]
  return %3, %9
})";

inline constexpr const char* min_and_max =
    R"(func @min_and_max(%0: f32[1024,512]) -> (f32[1024], f32[1024]) {
  %1 = min %0 axes=[1] : f32[1024]
  %2 = max %0 axes=[1] : f32[1024]
  return %1, %2
})";

inline constexpr const char* dense_layer =
    R"(func @dense_layer(%0: f32[64,48], %1: f32[48,20], %2: f32[20]) -> f32[64,20] {
  %3 = call matmul %0, %1 : f32[64,20]
  %4 = add %3, %2 : f32[64,20]
  %5 = tanh %4 : f32[64,20]
  return %5
})";

inline constexpr const char* row_norms = R"(func @row_norms(%0: f32[256,1024]) -> f32[256] {
  %1 = multiply %0, %0 : f32[256,1024]
  %2 = sum %1 axes=[1] : f32[256]
  %3 = sqrt %2 : f32[256]
  return %3
})";

inline constexpr const char* jacobi = R"(func @jacobi(%0: f32[8192,8192]) -> f32[8192,8192] {
  %1 = slice %0 starts=[0,1] steps=[1,1] : f32[8190,8190]
  %2 = slice %0 starts=[2,1] steps=[1,1] : f32[8190,8190]
  %3 = slice %0 starts=[1,0] steps=[1,1] : f32[8190,8190]
  %4 = slice %0 starts=[1,2] steps=[1,1] : f32[8190,8190]
  %5 = add %1, %2 : f32[8190,8190]
  %6 = add %3, %4 : f32[8190,8190]
  %7 = add %5, %6 : f32[8190,8190]
  %8 = constant 0.25 : f32[]
  %9 = multiply %7, %8 : f32[8190,8190]
  %10 = slice_update %0, %9 starts=[1,1] steps=[1,1] shape=[8190,8190] : f32[8192,8192]
  return %10
})";

inline constexpr const char* sum_of_columns =
    R"(func @sum_of_columns(%0: f32[8192,8192]) -> f32[8192] {
  %1 = sum %0 axes=[0] : f32[8192]
  return %1
})";

inline constexpr const char* sum_of_rows = R"(func @sum_of_rows(%0: f32[8192,8192]) -> f32[8192] {
  %1 = sum %0 axes=[1] : f32[8192]
  return %1
})";

}  // namespace heddle::test
