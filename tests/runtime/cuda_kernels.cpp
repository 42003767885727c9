// Kernels, graphs and matrix products on a GPU.

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "runtime/cuda/devices.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/device/memory.h"
#include "runtime/libraries/blas.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using runtime::allocate;
using runtime::BufferRef;
using runtime::Device;
using runtime::DeviceKind;
using runtime::Stream;
namespace cuda = runtime::cuda;

namespace {

constexpr Device gpu{DeviceKind::cuda, 0};

constexpr const char* source = R"(
extern "C" __global__ void hd_scale(const float* a, float* b, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i] * factor;
}
extern "C" __global__ void hd_rank(int* out) {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) out[blockIdx.x] = (int)rank;
}
)";

bool have_gpu() {
  static const bool have = [] {
    if (!cuda::available()) MESSAGE("no GPU here: " << cuda::unavailable_reason());
    return cuda::available();
  }();
  return have;
}

runtime::CudaModule load() {
  const auto binary =
      runtime::nvrtc::compile(source, "test", runtime::target_of(gpu).architecture, {});
  return runtime::CudaModule(binary.bytes, 0);
}

template <class T>
BufferRef upload(const std::vector<T>& values, const Stream& stream) {
  BufferRef out = allocate(values.size() * sizeof(T), stream);
  runtime::copy(out->pointer(), gpu, values.data(), Device{}, out->bytes(), stream);
  return out;
}

template <class T>
std::vector<T> download(const BufferRef& buffer, const Stream& stream) {
  std::vector<T> out(buffer->bytes() / sizeof(T));
  runtime::copy(out.data(), Device{}, buffer->pointer(), gpu, buffer->bytes(), stream);
  stream.synchronize();
  return out;
}

struct ScaleArguments {
  void *a, *b;
  int n;
  float factor;
  void* pointers[4] = {&a, &b, &n, &factor};
};

}  // namespace

TEST_CASE("a compiled kernel loads, runs and has facts") {
  if (!have_gpu()) return;
  const runtime::CudaModule module = load();
  const cuda::FunctionHandle kernel = module.function("hd_scale");
  CHECK(runtime::facts_of(kernel).registers > 0);
  CHECK(runtime::facts_of(kernel).max_threads_per_block == 1024);
  CHECK_THROWS_AS(module.function("hd_nothing"), DeviceError);

  const Stream stream = Stream::current(gpu);
  const BufferRef a = upload(std::vector<float>(1000, 3.0f), stream);
  const BufferRef b = allocate(4000, stream);
  ScaleArguments arguments{a->pointer(), b->pointer(), 1000, 2.0f};
  cuda::driver().launch_kernel(kernel, 8, 1, 1, 128, 1, 1, 0, stream.handle(), arguments.pointers,
                               nullptr);
  CHECK(download<float>(b, stream) == std::vector<float>(1000, 6.0f));
  CHECK_THROWS_AS(cuda::driver().launch_kernel(kernel, 8, 1, 1, 4096, 1, 1, 0, stream.handle(),
                                               arguments.pointers, nullptr),
                  DeviceError);
  CHECK(download<float>(b, stream) == std::vector<float>(1000, 6.0f));
}

TEST_CASE("blocks launch in clusters") {
  if (!have_gpu() || runtime::target_of(gpu).max_cluster == 1) return;
  const runtime::CudaModule module = load();
  const Stream stream = Stream::current(gpu);
  const BufferRef out = allocate(16 * sizeof(int), stream);
  void* pointer = out->pointer();
  void* parameters[] = {&pointer};
  cuda::LaunchAttribute attribute;
  attribute.id = cuda::LaunchAttributeId::cluster_dimension;
  attribute.value.cluster_dimension[0] = 4;
  attribute.value.cluster_dimension[1] = 1;
  attribute.value.cluster_dimension[2] = 1;
  cuda::LaunchConfig config;
  config.grid[0] = 16;
  config.block[0] = 64;
  config.stream = stream.handle();
  config.attributes = &attribute;
  config.attribute_count = 1;
  cuda::driver().launch_kernel_ex(&config, module.function("hd_rank"), parameters, nullptr);
  CHECK(download<int>(out, stream) ==
        std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3});
}

TEST_CASE("a captured graph replays, and its kernels take new arguments") {
  if (!have_gpu()) return;
  const cuda::Driver& driver = cuda::driver();
  const cuda::ContextScope context(0);
  const runtime::CudaModule module = load();
  const cuda::FunctionHandle kernel = module.function("hd_scale");
  const Stream stream = Stream::create(gpu);
  const BufferRef a = upload(std::vector<float>(1000, 3.0f), stream);
  const BufferRef b = allocate(4000, stream);
  ScaleArguments arguments{a->pointer(), b->pointer(), 1000, 2.0f};
  stream.synchronize();

  cuda::GraphHandle graph = nullptr;
  driver.stream_begin_capture(stream.handle(), cuda::CaptureMode::thread);
  CHECK(stream.capturing());
  CHECK_FALSE(stream.idle());
  driver.launch_kernel(kernel, 8, 1, 1, 128, 1, 1, 0, stream.handle(), arguments.pointers, nullptr);
  driver.stream_end_capture(stream.handle(), &graph);
  CHECK_FALSE(stream.capturing());

  std::size_t count = 0;
  driver.graph_get_nodes(graph, nullptr, &count);
  REQUIRE(count == 1);
  cuda::GraphNodeHandle node = nullptr;
  driver.graph_get_nodes(graph, &node, &count);
  cuda::GraphNodeType type{};
  driver.graph_node_get_type(node, &type);
  CHECK(type == cuda::GraphNodeType::kernel);

  cuda::GraphExecHandle executable = nullptr;
  driver.graph_instantiate(&executable, graph, 0);
  driver.graph_launch(executable, stream.handle());
  CHECK(download<float>(b, stream) == std::vector<float>(1000, 6.0f));

  cuda::KernelNodeParams params;
  driver.graph_kernel_node_get_params(node, &params);
  CHECK(params.grid[0] == 8);
  CHECK(params.block[0] == 128);
  arguments.factor = 5.0f;
  params.parameters = arguments.pointers;
  driver.graph_exec_kernel_node_set_params(executable, node, &params);
  driver.graph_launch(executable, stream.handle());
  CHECK(download<float>(b, stream) == std::vector<float>(1000, 15.0f));
  driver.graph_exec_destroy(executable);
  driver.graph_destroy(graph);
}

TEST_CASE(
    "a graph made of nodes keeps its clusters when kernels and fills are given new addresses") {
  if (!have_gpu() || runtime::target_of(gpu).max_cluster == 1) return;
  const cuda::Driver& driver = cuda::driver();
  const cuda::ContextScope context(0);
  const runtime::CudaModule module = load();
  const Stream stream = Stream::create(gpu);
  const BufferRef first = allocate(32 * sizeof(int), stream),
                  second = allocate(32 * sizeof(int), stream);
  for (const BufferRef& each : {first, second})
    runtime::fill(each->pointer(), 0xff, each->bytes(), stream);

  // The second half is filled, the first takes each block's rank in its cluster.
  cuda::GraphHandle graph = nullptr;
  driver.graph_create(&graph, 0);
  cuda::MemsetNodeParams memset;
  memset.destination = reinterpret_cast<cuda::DevicePointer>(first->pointer()) + 16 * sizeof(int);
  memset.width = 16 * sizeof(int);
  cuda::GraphNodeHandle fill = nullptr, kernel = nullptr;
  driver.graph_add_memset_node(&fill, graph, nullptr, 0, &memset, cuda::primary_context(0));
  void* pointer = first->pointer();
  void* parameters[] = {&pointer};
  cuda::KernelNodeParams launch;
  launch.function = module.function("hd_rank");
  launch.grid[0] = 16;
  launch.block[0] = 64;
  launch.parameters = parameters;
  driver.graph_add_kernel_node(&kernel, graph, &fill, 1, &launch);
  cuda::LaunchAttributeValue cluster{};
  cluster.cluster_dimension[0] = 4;
  cluster.cluster_dimension[1] = cluster.cluster_dimension[2] = 1;
  driver.graph_kernel_node_set_attribute(kernel, cuda::LaunchAttributeId::cluster_dimension,
                                         &cluster);
  cuda::GraphExecHandle executable = nullptr;
  driver.graph_instantiate(&executable, graph, 0);

  // The first launch may be running when the next one's addresses are set.
  driver.graph_launch(executable, stream.handle());
  pointer = second->pointer();
  driver.graph_exec_kernel_node_set_params(executable, kernel, &launch);
  memset.destination = reinterpret_cast<cuda::DevicePointer>(second->pointer()) + 16 * sizeof(int);
  driver.graph_exec_memset_node_set_params(executable, fill, &memset, cuda::primary_context(0));
  driver.graph_launch(executable, stream.handle());
  driver.graph_exec_destroy(executable);
  driver.graph_destroy(graph);
  std::vector<int> expected = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
  expected.resize(32, 0);
  CHECK(download<int>(first, stream) == expected);
  CHECK(download<int>(second, stream) == expected);
}

TEST_CASE("an injected launch failure does not spoil the stream") {
  if (!have_gpu()) return;
  const Stream stream = Stream::current(gpu);
  const std::vector<float> values(10, 1.0f);
  const BufferRef a = upload(values, stream);
  CHECK_THROWS_AS(cuda::driver().memset_d8_async(1, 0, 8, stream.handle()), DeviceError);
  CHECK(download<float>(a, stream) == values);
}

TEST_CASE("products on the GPU: transposes, batches and repeats, in each dtype") {
  if (!have_gpu()) return;
  REQUIRE_MESSAGE(runtime::blas_available(gpu), runtime::blas_unavailable_reason(gpu));
  const Stream stream = Stream::current(gpu);
  const BufferRef workspace = allocate(runtime::blas_workspace_bytes(gpu), stream);
  constexpr std::int64_t rows = 37, columns = 19, depth = 53, batch = 3;
  test::Random random(5);
  auto small = [&] { return static_cast<float>(static_cast<int>(random.below(9)) - 4); };
  for (int variant = 0; variant < 8; ++variant) {
    const bool a_transposed = (variant & 1) != 0, b_transposed = (variant & 2) != 0;
    const std::int64_t a_stride = (variant & 4) != 0 ? 0 : rows * depth;
    std::vector<float> a(rows * depth * batch), b(depth * columns * batch);
    for (float& value : a) value = small();
    for (float& value : b) value = small();
    std::vector<float> expected(rows * columns * batch);
    for (std::int64_t i = 0; i < batch; ++i) {
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < columns; ++c) {
          float sum = 0;
          for (std::int64_t k = 0; k < depth; ++k) {
            const std::int64_t at_a = i * a_stride + (a_transposed ? k * rows + r : r * depth + k);
            const std::int64_t at_b =
                i * depth * columns + (b_transposed ? c * depth + k : k * columns + c);
            sum += a[static_cast<std::size_t>(at_a)] * b[static_cast<std::size_t>(at_b)];
          }
          expected[static_cast<std::size_t>((i * rows + r) * columns + c)] = sum;
        }
      }
    }
    runtime::Gemm product{.dtype = DType::f32,
                          .rows = rows,
                          .columns = columns,
                          .depth = depth,
                          .batch = batch,
                          .a_leading = a_transposed ? rows : depth,
                          .b_leading = b_transposed ? depth : columns,
                          .a_transposed = a_transposed,
                          .b_transposed = b_transposed,
                          .a_batch_stride = a_stride,
                          .b_batch_stride = depth * columns,
                          .out_batch_stride = rows * columns};
    const BufferRef left = upload(a, stream), right = upload(b, stream);
    const BufferRef out = allocate(expected.size() * sizeof(float), stream);
    runtime::gemm(product, left->pointer(), right->pointer(), out->pointer(), workspace->pointer(),
                  stream);
    CHECK(download<float>(out, stream) == expected);

    product.dtype = DType::f64;
    const std::vector<double> wide_a(a.begin(), a.end()), wide_b(b.begin(), b.end());
    const BufferRef wide_left = upload(wide_a, stream), wide_right = upload(wide_b, stream);
    const BufferRef wide_out = allocate(expected.size() * sizeof(double), stream);
    runtime::gemm(product, wide_left->pointer(), wide_right->pointer(), wide_out->pointer(),
                  workspace->pointer(), stream);
    CHECK(download<double>(wide_out, stream) ==
          std::vector<double>(expected.begin(), expected.end()));

    // Whole numbers up to 256 in size are exact in bfloat16, which is the upper half of a float.
    product.dtype = DType::bf16;
    auto halves = [](const std::vector<float>& values) {
      std::vector<std::uint16_t> half;
      for (const float value : values) {
        half.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
      }
      return half;
    };
    const BufferRef half_left = upload(halves(a), stream), half_right = upload(halves(b), stream);
    const BufferRef half_out = allocate(expected.size() * 2, stream);
    runtime::gemm(product, half_left->pointer(), half_right->pointer(), half_out->pointer(),
                  workspace->pointer(), stream);
    const std::vector<std::uint16_t> got = download<std::uint16_t>(half_out, stream);
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (std::abs(expected[i]) <= 256) wrong += got[i] != halves({expected[i]})[0] ? 1 : 0;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("f32 products keep all of f32's digits, unless a lower precision is asked for") {
  if (!have_gpu() || !runtime::blas_available(gpu)) return;
  const Stream stream = Stream::current(gpu);
  const BufferRef workspace = allocate(runtime::blas_workspace_bytes(gpu), stream);
  constexpr std::int64_t n = 256;
  // TF32 has 10 bits behind the point and would make this 1.
  const float x = 1.0f + 0x1p-20f;
  const BufferRef a = upload(std::vector<float>(n * n, x), stream);
  std::vector<float> identity(n * n, 0.0f);
  for (std::int64_t i = 0; i < n; ++i) identity[static_cast<std::size_t>(i * n + i)] = 1.0f;
  const BufferRef b = upload(identity, stream);
  const BufferRef out = allocate(n * n * sizeof(float), stream);
  const auto multiply = [&](Precision precision) {
    runtime::gemm({.precision = precision,
                   .rows = n,
                   .columns = n,
                   .depth = n,
                   .a_leading = n,
                   .b_leading = n},
                  a->pointer(), b->pointer(), out->pointer(), workspace->pointer(), stream);
    return download<float>(out, stream);
  };
  CHECK(multiply(Precision::ieee) == std::vector<float>(n * n, x));
  CHECK(multiply(Precision::tf32) == std::vector<float>(n * n, 1.0f));
  CHECK(multiply(Precision::bf16) == std::vector<float>(n * n, 1.0f));
}
