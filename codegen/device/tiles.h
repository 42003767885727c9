//! section tiles needs core shared
// Products of matrices by the tensor cores of a warp group, which is 128 threads that begin at a
// multiple of 128; sm_90a. Operands of 16-bit numbers lie in tiles of shared memory; sums are float
// and lie in registers. Thread t of a group holds the rows t / 32 * 16 + t % 32 / 4, and that plus
// 8, of 64 rows: of columns 8 i + t % 4 * 2 and the next one, the sums 4 i and 4 i + 1 of the first
// row, 4 i + 2 and 4 i + 3 of the second.
//
// A tile is found by its byte offset in shared memory, a multiple of 1024. It consists of chunks of
// 64 columns. A row of a chunk has 128 bytes, and its 16-byte pieces are permuted by the row's
// number, so that neither rows nor columns conflict in the banks: piece c of row r is at
// (c ^ r % 8) * 16.

constexpr int tile_row_bytes = 128;

// Where tiles begin in shared memory, which has 1024 bytes more than they need.
__device__ __forceinline__ int first_tile() {
  const unsigned int base =
      static_cast<unsigned int>(__cvta_generic_to_shared(heddle_shared_memory));
  return static_cast<int>(0u - base & 1023u);
}
__device__ __forceinline__ unsigned int tile_address(int offset) {
  return static_cast<unsigned int>(__cvta_generic_to_shared(heddle_shared_memory + offset));
}

// Copies 16 bytes, elements i and on of `from`, to shared memory; zeros if they are not `valid`. If
// they are aligned to 16 bytes in memory, the copy ends later (await_copies).
template <bool Aligned, class T>
__device__ __forceinline__ void copy_piece(int to, const T* from, long long i, bool valid) {
  if constexpr (Aligned) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(tile_address(to)),
                 "l"(valid ? from + i : from), "r"(valid ? 16 : 0)
                 : "memory");
  } else {
    Vector<T, 16 / sizeof(T)> piece = {};
#pragma unroll
    for (int k = 0; k < static_cast<int>(16 / sizeof(T)) && valid; ++k) piece.v[k] = from[i + k];
    shared_store_vector<16 / sizeof(T)>(shared_pointer<T>(to), 0, piece);
  }
}
// Closes a group of copies of this thread.
__device__ __forceinline__ void close_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// Waits for all groups of copies of this thread except the last `Pending`. After a gate that it
// enters then, products can read them.
template <int Pending>
__device__ __forceinline__ void await_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// A gate is 8 bytes of shared memory. It opens whenever `arrivals` threads have entered it; the
// parity of its openings tells one from the next. Before the block's first barrier, one thread
// makes all gates and then announces them.
__device__ __forceinline__ void make_gate(int gate, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(tile_address(gate)), "r"(arrivals)
               : "memory");
}
__device__ __forceinline__ void announce_gates() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void enter_gate(int gate) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(tile_address(gate)) : "memory");
}
// Waits until the gate has opened for the first time (parity 0), the second (parity 1), and so on.
// Before the first time, the gate counts as open with parity 1.
__device__ __forceinline__ void await_gate(int gate, int parity) {
  unsigned int open;
  do {
    asm volatile(
        "{\n"
        ".reg .pred open;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 open, [%1], %2;\n"
        "selp.u32 %0, 1, 0, open;\n"
        "}\n"
        : "=r"(open)
        : "r"(tile_address(gate)), "r"(parity)
        : "memory");
  } while (open == 0);
}

// The registers that each thread of this group has from now on. Together, the groups of a block
// have what they began with.
template <int Count>
__device__ __forceinline__ void lower_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}
template <int Count>
__device__ __forceinline__ void raise_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}

// Products are computed while the group goes on. begin_products stands between the last use of
// their sums and the first product; close_products closes a group of products; await_products waits
// for all but the last `Pending` groups. hold() stands after that, for each array of sums.
__device__ __forceinline__ void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void close_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int Pending>
__device__ __forceinline__ void await_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}
template <int Count>
__device__ __forceinline__ void hold(float (&sums)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

// The descriptor of a matrix within one chunk: its 16-byte pieces are permuted in rows of 128 bytes
// (bit 62), and 8 rows have 1024 bytes. The distance between chunks is not used.
__device__ __forceinline__ unsigned long long tile_descriptor(int offset) {
  return static_cast<unsigned long long>((tile_address(offset) & 0x3ffff) >> 4) | 1ull << 16 |
         1024ull >> 4 << 32 | 1ull << 62;
}

#define HD_SUMS_8(i)                                                                         \
  "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3]), "+f"(sums[i + 4]), \
      "+f"(sums[i + 5]), "+f"(sums[i + 6]), "+f"(sums[i + 7])
#define HD_SUMS_32(i) HD_SUMS_8(i), HD_SUMS_8(i + 8), HD_SUMS_8(i + 16), HD_SUMS_8(i + 24)
#define HD_REGISTERS_32                                                    \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define HD_MULTIPLY_ROWS(type)                                                           \
  asm volatile(                                                                          \
      "{\n"                                                                              \
      ".reg .pred add;\n"                                                                \
      "setp.ne.b32 add, %66, 0;\n"                                                       \
      "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type " {" HD_REGISTERS_32  \
      ", "                                                                               \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"   \
      "}, %64, %65, add, 1, 1, 0, 0;\n"                                                  \
      "}\n"                                                                              \
      : HD_SUMS_32(0), HD_SUMS_32(32)                                                    \
      : "l"(left), "l"(right), "r"(more));
#define HD_MULTIPLY_COLUMNS(type)                                                               \
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " {" HD_REGISTERS_32 \
               "}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;\n"                                    \
               : HD_SUMS_32(0)                                                                  \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(right));
// sums (64 x 128) += or, unless `add`, = a b^T, where a is 64 rows of 16 columns at `a`, and b 128
// rows of 16 columns at `b`; both are in one chunk.
template <class T>
__device__ __forceinline__ void multiply_rows(float (&sums)[64], int a, int b, bool add) {
  const unsigned long long left = tile_descriptor(a), right = tile_descriptor(b);
  const int more = add;
  if constexpr (T::mantissa_bits == 10) {
    HD_MULTIPLY_ROWS("f16")
  } else {
    HD_MULTIPLY_ROWS("bf16")
  }
}

// sums (64 x 64) += a b, where a is 64 rows of 16 columns in registers (pack_pair), and b 16 rows
// of 64 columns at `b`, one chunk.
template <class T>
__device__ __forceinline__ void multiply_columns(float (&sums)[32], const unsigned int* a, int b) {
  const unsigned long long right = tile_descriptor(b);
  if constexpr (T::mantissa_bits == 10) {
    HD_MULTIPLY_COLUMNS("f16")
  } else {
    HD_MULTIPLY_COLUMNS("bf16")
  }
}
#undef HD_MULTIPLY_ROWS
#undef HD_MULTIPLY_COLUMNS
#undef HD_REGISTERS_32
#undef HD_SUMS_32
#undef HD_SUMS_8

// Two numbers rounded to T, the first in the lower half.
template <class T>
__device__ __forceinline__ unsigned int pack_pair(float first, float second) {
  unsigned int pair;
  if constexpr (T::mantissa_bits == 10) {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  } else {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  }
  return pair;
}

// 2^x with an error of 2 ulp; subnormal numbers are 0.
__device__ __forceinline__ float quick_exp2(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}
