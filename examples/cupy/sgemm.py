"""A product of float32 matrices by a CUDA kernel of one's own, which tiles in shared memory."""

import common
import numpy

CODE = r"""
constexpr int tile = 64, depth = 16, threads = 16, each = tile / threads;

// c[m, n] = a[m, k] b[k, n], in C order. A block of 16 x 16 threads computes 64 x 64 elements of c,
// a thread 4 x 4 of them, 16 rows and columns apart.
extern "C" __global__ void sgemm(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float left[depth][tile + 1], right[depth][tile];
  const int first_row = blockIdx.y * tile, first_column = blockIdx.x * tile;
  float sums[each][each] = {};
  for (int begin = 0; begin < k; begin += depth) {
    for (int i = threadIdx.y * threads + threadIdx.x; i < tile * depth; i += threads * threads) {
      const int row = first_row + i / depth, column = first_column + i % tile;
      const int of_left = begin + i % depth, of_right = begin + i / tile;
      left[i % depth][i / depth] = row < m && of_left < k ? a[row * (long long)k + of_left] : 0;
      right[i / tile][i % tile] = of_right < k && column < n ? b[of_right * (long long)n + column] : 0;
    }
    __syncthreads();
    for (int inner = 0; inner < depth; ++inner) {
      for (int i = 0; i < each; ++i) {
        for (int j = 0; j < each; ++j)
          sums[i][j] += left[inner][threadIdx.y + i * threads] * right[inner][threadIdx.x + j * threads];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < each; ++i) {
    for (int j = 0; j < each; ++j) {
      const int row = first_row + threadIdx.y + i * threads;
      const int column = first_column + threadIdx.x + j * threads;
      if (row < m && column < n) c[row * (long long)n + column] = sums[i][j];
    }
  }
}
"""
TILE, THREADS = 64, 16


def product(kernel, xp, a, b):
    """a b, by the kernel."""
    (m, k), n = a.shape, b.shape[1]
    c = xp.empty((m, n), dtype=xp.float32)
    blocks = (-(-n // TILE), -(-m // TILE))
    kernel(blocks, (THREADS, THREADS), (a, b, c, *map(numpy.int32, (m, n, k))))
    return c


def main():
    options = common.arguments(__doc__, m=4096, n=4096, k=4096, repeats=10)
    xp = common.library(options)
    kernel = xp.RawKernel(CODE, "sgemm")
    if not common.has_gpu(xp):
        print("sgemm needs a GPU: a RawKernel is CUDA code. On the CPU, use xp.matmul.")
        return
    random = numpy.random.default_rng(5)
    a, b = (random.standard_normal(shape).astype(numpy.float32)
            for shape in ((options.m, options.k), (options.k, options.n)))
    on_device = xp.asarray(a), xp.asarray(b)
    c = common.timed(xp, "kernel", lambda: product(kernel, xp, *on_device), options.repeats)
    common.timed(xp, "matmul", lambda: xp.matmul(*on_device), options.repeats)
    if options.check:
        common.check(options, xp, "product", c, a @ b, 1e-5 * options.k)
    print(f"registers of a thread: {kernel.num_regs}, shared memory: {kernel.shared_size_bytes} bytes")


if __name__ == "__main__":
    main()
