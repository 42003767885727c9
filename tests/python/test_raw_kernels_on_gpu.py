"""What kernels of RawKernel and RawModule compute on a GPU."""

import numpy as np
import pytest

import heddle as hd
from conftest import ON_CPU

pytestmark = pytest.mark.skipif(ON_CPU, reason="needs a GPU")

ADD = r"""
extern "C" __global__ void add(const float* x, const float* y, float* z, long long n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}
"""


def array(*shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def test_adds():
    add = hd.RawKernel(ADD, "add")
    x, y = array(1000), array(1000, seed=1)
    z = hd.zeros(1000, dtype=hd.float32)
    add((4,), (256,), (hd.asarray(x), hd.asarray(y) * 2, z, 1000))
    np.testing.assert_array_equal(hd.asnumpy(z), x + y * 2)
    total = hd.sum(z * z)  # recorded after the launch
    z2 = z + 1
    add((4,), (256,), (z, z, z, 1000))
    np.testing.assert_allclose(float(total), np.sum((x + y * 2.0)**2), rtol=1e-5)
    np.testing.assert_array_equal(hd.asnumpy(z2), x + y * 2 + 1)
    np.testing.assert_array_equal(hd.asnumpy(z), 2 * (x + y * 2))
    assert add.max_threads_per_block == 1024 and 0 < add.num_regs < 256
    assert add.binary_version >= 50 and add.local_size_bytes == 0


def test_memory_of_empty():
    add = hd.RawKernel(ADD, "add")
    x, y = hd.asarray(array(1000)), hd.asarray(array(1000, seed=1))
    for z in (hd.empty(1000, dtype=hd.float32), hd.empty_like(x)):
        copy, doubled = z.copy(), z * 2
        add((4,), (256,), (x, y, z, 1000))
        np.testing.assert_array_equal(hd.asnumpy(z), hd.asnumpy(x + y))
        assert not hd.any(copy) and not hd.any(doubled)  # zeros for everyone else
    z = hd.empty(1000, dtype=hd.float32)
    z.eval()  # in memory: zeros, which the kernel finds
    add((4,), (256,), (x, y, z, 10))
    assert hd.all(z[:10] == (x + y)[:10]) and not hd.any(z[10:])


def test_values_by_type():
    kernel = hd.RawKernel(r"""
struct Pair { int a; double b; };
extern "C" __global__ void f(double* out, long long i, double d, bool b, double2 z, float f, short s,
                             const float* null, Pair p) {
  double values[] = {(double)i, d, (double)b, z.x, z.y, f, (double)s, null == nullptr ? 1.0 : 0.0,
                     (double)p.a, p.b};
  for (int k = 0; k < 10; ++k) out[k] = values[k];
}""", "f")
    pair = np.zeros(1, dtype=np.dtype([("a", "i4"), ("b", "f8")], align=True))
    pair["a"], pair["b"] = 7, -0.5
    out = hd.zeros(10)
    kernel((1,), (1,), (out, -5, 2.5, True, 1 - 3j, np.float32(0.25), np.int16(-9), None, pair))
    assert out.tolist() == [-5, 2.5, 1, 1, -3, 0.25, -9, 1, 7, -0.5]


def test_templates_constants_and_variables():
    module = hd.RawModule(code=r"""
template <class T> __global__ void fill(T* x, T value) { x[blockDim.x * blockIdx.x + threadIdx.x] = value; }
extern "C" {
__constant__ float weights[4];
__device__ int counter;
__global__ void weigh(float* x) { x[threadIdx.x] *= weights[threadIdx.x]; atomicAdd(&counter, 1); }
}
template <class T> __device__ T cell;
""", name_expressions=("fill<float>", "fill<long long>", "&cell<double>"), options=("-std=c++14",))
    x, n = hd.zeros(64, dtype=hd.float32), hd.zeros(64, dtype=hd.int64)
    module.get_function("fill<float>")((2,), (32,), (x, np.float32(1.5)))
    module.get_function("fill<long long>")((2,), (32,), (n, 7))
    assert hd.all(x == 1.5) and hd.all(n == 7)
    weights = module.get_global("weights")
    assert weights.size == 16
    weights.array(hd.float32)[...] = hd.asarray([1.0, 2.0, 3.0, 4.0], dtype=hd.float32)
    y = hd.ones(4, dtype=hd.float32)
    module.get_function("weigh")((1,), (4,), (y,))
    assert y.tolist() == [1, 2, 3, 4]
    assert module.get_global("counter").array(hd.int32).tolist() == [4]
    assert module.get_global("&cell<double>").size == 8


def test_dynamic_shared_memory():
    reverse = hd.RawKernel(r"""
extern "C" __global__ void reverse(double* x, int n) {
  extern __shared__ double kept[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) kept[i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = kept[n - 1 - i];
}""", "reverse")
    n = 8000
    x = hd.arange(float(n))
    with pytest.raises(ValueError, match="max_dynamic_shared_size_bytes"):
        reverse((1,), (128,), (x, np.int32(n)), shared_mem=8 * n)
    reverse.max_dynamic_shared_size_bytes = 8 * n
    reverse((1,), (128,), (x, np.int32(n)), shared_mem=8 * n)
    assert hd.all(x == hd.arange(float(n))[::-1])


def test_cooperative_groups_and_half():
    kernel = hd.RawKernel(r"""
#include <cooperative_groups.h>
#include <cuda_fp16.h>
extern "C" __global__ void f(__half* x, __half* total, int n) {
  auto grid = cooperative_groups::this_grid();
  for (int i = grid.thread_rank(); i < n; i += grid.size()) x[i] = __hadd(x[i], x[i]);
  grid.sync();
  if (grid.thread_rank() == 0)
    for (int i = 0; i < n; ++i) *total = __hadd(*total, x[i]);
}""", "f", enable_cooperative_groups=True)
    try:
        kernel.compile()
    except hd.CompileError as error:
        if "No headers of the CUDA toolkit" in str(error):
            pytest.skip("the toolkit's headers are not here")
        raise
    x, total = hd.ones(128, dtype=hd.float16), hd.zeros(1, dtype=hd.float16)
    kernel((4,), (32,), (x, total, np.int32(128)))
    assert total.tolist() == [256]


def test_complex_numbers_by_cupys_header():
    kernel = hd.RawKernel(r"""
#include <cupy/complex.cuh>
extern "C" __global__ void f(const complex<float>* x, complex<double>* y, complex<double> by) {
  __shared__ complex<float> kept[32];
  kept[threadIdx.x] = conj(x[threadIdx.x]);
  __syncthreads();
  y[threadIdx.x] = complex<double>(kept[31 - threadIdx.x]) * by + abs(by);
}""", "f")
    x = (array(32) + 1j * array(32, seed=1)).astype("complex64")
    y = hd.zeros(32, dtype=hd.complex128)
    kernel((1,), (32,), (hd.asarray(x), y, 3 - 4j))
    expected = np.conj(x).astype("complex128")[::-1] * (3 - 4j) + 5
    np.testing.assert_allclose(hd.asnumpy(y), expected, rtol=1e-12)


def test_a_file_of_ptx(tmp_path):
    path = tmp_path / "store.ptx"
    path.write_text("""
.version 6.4
.target sm_50
.address_size 64
.visible .entry store(.param .u64 to, .param .u32 value) {
  .reg .u64 %p; .reg .u32 %v;
  ld.param.u64 %p, [to];
  cvta.to.global.u64 %p, %p;
  ld.param.u32 %v, [value];
  st.global.u32 [%p], %v;
  ret;
}
""")
    x = hd.zeros(3, dtype=hd.int32)
    hd.RawModule(path=path).get_function("store")((1,), (1,), (x[1:], np.int32(9)))
    assert x.tolist() == [0, 9, 0]
    path.write_text("no PTX")
    with pytest.raises(hd.DeviceError):
        hd.RawModule(path=path).compile()


def test_refusals():
    add = hd.RawKernel(ADD, "add")
    x = hd.ones(4, dtype=hd.float32)
    with pytest.raises(ValueError, match="2048"):
        add((1,), (2048,), (x, x, x, 4))
    with pytest.raises(hd.DeviceError, match="no kernel missing"):
        hd.RawKernel(ADD, "missing").compile()
    with pytest.raises(hd.CompileError, match=r"wrong\(1\): error"):
        hd.RawKernel('extern "C" __global__ void wrong() { x; }', "wrong").compile()
    with pytest.raises(hd.TraceError):
        hd.jit(lambda a: add((1,), (4,), (a, a, a, 4)))(x)
