#include "tests/emulator/kernels.h"

#include <fmt/format.h>

namespace heddle::emulator {
namespace {

std::string symbol_of(std::string text) {
  for (char& c : text) {
    if (c == ' ') c = '_';
  }
  return text;
}

/// The section of ir/scalar/reduce.h that holds a reduction.
std::string reduction_section(const std::string& op) {
  if (op == "all") return "reduce_any";
  if (op == "argmax") return "reduce_argmin";
  return "reduce_" + op;
}

std::vector<std::string> with_type(std::vector<std::string> sections, const std::string& type) {
  if (type == "half" || type == "bfloat16") sections.push_back(type);
  return sections;
}

std::string qualified(const std::string& type) {
  return type == "half" || type == "bfloat16" ? "heddle_scalar::" + type : type;
}

}  // namespace

codegen::KernelSource row_reduction(const std::string& op, const std::string& type, int threads) {
  const std::string name = fmt::format("reduction_{}_{}_{}", op, symbol_of(type), threads);
  const int block = row_reduction_block(threads);
  return {name, with_type({"memory", "block_reduce", reduction_section(op)}, type),
          fmt::format(R"(
using R = heddle_scalar::reduce::{0}<{1}>;
extern "C" __global__ void __launch_bounds__({3}) {4}(const {1}* p0, R::Result* p1, long long rows,
                                                   long long columns) {{
  const int lane = linear_thread() % {2};
  for (long long first = blockIdx.x * {5}; first < rows; first += gridDim.x * {5}) {{
    const long long row = first + linear_thread() / {2};
    R::State s = R::identity();
    if (row < rows) {{
      for (long long i = lane; i < columns; i += {2}) {{
        s = R::combine(s, R::lift(load(p0, row * columns + i), i));
      }}
    }}
    s = reduce_groups<R, {2}>(s);
    if (row < rows) store(p1, row * {2} + lane, R::finish(s));
  }}
}}
)",
                      op, qualified(type), threads, block, name, block / threads)};
}

codegen::KernelSource column_reduction(const std::string& op, const std::string& type, int x,
                                       int threads) {
  const std::string name = fmt::format("columns_{}_{}_{}_{}", op, symbol_of(type), x, threads);
  return {name, with_type({"memory", "column_reduce", reduction_section(op)}, type),
          fmt::format(R"(
using R = heddle_scalar::reduce::{0}<{1}>;
extern "C" __global__ void __launch_bounds__({3}) {4}(const {1}* p0, R::Result* p1, int rows,
                                                   int columns) {{
  const int x = (blockIdx.x * {2} + threadIdx.x) * 2;
  const int y = threadIdx.y;
  R::State s[2] = {{R::identity(), R::identity()}};
  for (int k = 0; k < 2; ++k) {{
    if (x + k >= columns) continue;
    for (int i = y; i < rows; i += {5})
      s[k] = R::combine(s[k], R::lift(load(p0, i * columns + x + k), i));
  }}
  reduce_columns<R, {2}, {3}>(s);
  reduce_columns<R, {2}, {3}>(s);  // of equal states, in the same memory
  for (int k = 0; k < 2; ++k) {{
    if (x + k < columns) store(p1, y * columns + x + k, R::finish(s[k]));
  }}
}}
)",
                      op, qualified(type), x, threads, name, threads / x)};
}

codegen::KernelSource vector_copy(const std::string& type, int width, bool streaming) {
  const std::string name =
      fmt::format("copy_{}_{}{}", symbol_of(type), width, streaming ? "_streaming" : "");
  return {name, with_type({"memory"}, type),
          fmt::format(R"(
extern "C" __global__ void __launch_bounds__(256) {0}(const {1}* p0, {1}* p1, int n) {{
  const int i = {2} * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i + {2} <= n) {{
    store{3}_vector<{2}>(p1, i, load{3}_vector<{2}>(p0, i));
  }} else {{
    for (int k = i; k < n; ++k) store{3}(p1, k, load{3}(p0, k));
  }}
}}
)",
                      name, qualified(type), width, streaming ? "_streaming" : "")};
}

codegen::KernelSource tile_transpose(const std::string& type) {
  const std::string name = fmt::format("transpose_{}", symbol_of(type));
  return {name, with_type({"memory", "shared"}, type),
          fmt::format(R"(
extern "C" __global__ void __launch_bounds__(256) {0}(const {1}* p0, {1}* p1, int rows,
                                                    int columns) {{
  const SharedArray<{1}> tile = shared_pointer<{1}>(0);
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) {{
    if (x < columns && y + k < rows) {{
      shared_store(tile, (threadIdx.y + k) * 33 + threadIdx.x, load(p0, (y + k) * columns + x));
    }}
  }}
  block_barrier();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) {{
    if (x < rows && y + k < columns) {{
      store(p1, (y + k) * rows + x, shared_load(tile, threadIdx.x * 33 + threadIdx.y + k));
    }}
  }}
}}
)",
                      name, qualified(type))};
}

codegen::KernelSource warp_exchanges() {
  return {"exchanges", {"memory", "warp"}, R"(
struct Pair {
  short first;
  double second;
};
extern "C" __global__ void exchanges(const long long* p0, long long* p1) {
  const int i = threadIdx.x;
  const int n = blockDim.x;
  const long long value = load(p0, i);
  store(p1, i, shuffle(value, (i + 3) % 8, 8));
  store(p1, n + i, shuffle_down(value, 5, 16));
  store(p1, 2 * n + i, shuffle_up(value, 1, 32));
  store(p1, 3 * n + i, shuffle_xor(value, 2, 4));
  store(p1, 4 * n + i, static_cast<long long>(ballot(value % 3 == 0)));
  store(p1, 5 * n + i, static_cast<long long>(shuffle_xor(static_cast<signed char>(value), 16, 32)));
  const Pair pair = shuffle_down(Pair{static_cast<short>(value), 0.5 * value}, 1, 32);
  store(p1, 6 * n + i, pair.first + static_cast<long long>(4.0 * pair.second));
}
)"};
}

codegen::KernelSource whole_sum() {
  return {"whole_sum", {"memory", "atomic", "block_reduce", "reduce_sum"}, R"(
using R = heddle_scalar::reduce::sum<float>;
extern "C" __global__ void __launch_bounds__(256) whole_sum(const float* p0, float* p1, float* p2,
                                                            unsigned int* p3, int n) {
  float s = R::identity();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) s += load(p0, i);
  s = reduce_groups<R, 256>(s);
  const SharedArray<bool> last = shared_pointer<bool>(reduce_shared_bytes(256, sizeof(float)));
  if (threadIdx.x == 0) {
    store(p1, blockIdx.x, s);
    device_fence();
    shared_store(last, 0, atomic_add(p3, 0, 1u) == gridDim.x - 1);
  }
  block_barrier();
  if (!shared_load(last, 0)) return;
  device_fence();
  s = R::identity();
  for (int i = threadIdx.x; i < gridDim.x; i += 256) s += load(p1, i);
  s = reduce_groups<R, 256>(s);
  if (threadIdx.x == 0) {
    store(p2, 0, s);
    store(p3, 0, 0u);
  }
}
)"};
}

codegen::KernelSource cluster_reduction(const std::string& op, const std::string& type, int slots) {
  const std::string name = fmt::format("cluster_{}_{}_{}", op, symbol_of(type), slots);
  return {name, with_type({"memory", "cluster_reduce", reduction_section(op)}, type),
          fmt::format(R"(
using R = heddle_scalar::reduce::{0}<{1}>;
extern "C" __global__ void __launch_bounds__(64) {2}(const {1}* p0, R::Result* p1) {{
  open_cluster_reduction<R, 4, {3}, 2>(0);
  open_cluster_reduction<R, 4, {3}, 2>(8);
  announce_exchanges();
  const int i = static_cast<int>(blockIdx.x) * {3} + static_cast<int>(threadIdx.x) % {3};
  R::State s[2];
  for (int k = 0; k < 2; ++k) s[k] = R::lift(load(p0, i * 2 + k), i);
  await_exchanges();
  reduce_cluster<R, 4, {3}, 2>(s, 0, 16);
  for (int k = 0; k < 2; ++k) store(p1, (blockIdx.x * 64 + threadIdx.x) * 4 + k, R::finish(s[k]));
  reduce_cluster<R, 4, {3}, 2>(s, 8, 4096);
  for (int k = 0; k < 2; ++k) store(p1, (blockIdx.x * 64 + threadIdx.x) * 4 + 2 + k, R::finish(s[k]));
}}
)",
                      op, qualified(type), name, slots)};
}

std::vector<codegen::KernelSource> kernels_of_every_kind() {
  std::vector<codegen::KernelSource> kernels = {warp_exchanges(), whole_sum()};
  for (const char* op : {"sum", "prod", "min", "max", "any", "all", "argmin", "argmax"}) {
    for (int threads : {1, 8, 32, 64, 1024}) {
      kernels.push_back(row_reduction(op, "float", threads));
    }
    kernels.push_back(row_reduction(op, "long long", 128));
    kernels.push_back(column_reduction(op, "float", 8, 256));
  }
  for (const char* type : {"bool", "signed char", "half", "bfloat16", "int", "double"}) {
    kernels.push_back(tile_transpose(type));
    for (int width : {1, 2, 4, 8, 16}) {
      kernels.push_back(vector_copy(type, width, false));
      kernels.push_back(vector_copy(type, width, true));
    }
  }
  return kernels;
}

}  // namespace heddle::emulator
