//! section shared needs vector
// The block's shared memory. Its size is set at launch, and arrays in it are found by byte offsets.
// An offset is a multiple of the element's alignment; for vector accesses, of the vector's.
extern __shared__ __align__(16) unsigned char heddle_shared_memory[];

template <class T>
struct SharedArray {
  T* data;
};

template <class T>
__device__ __forceinline__ SharedArray<T> shared_pointer(int byte_offset) {
  return {reinterpret_cast<T*>(heddle_shared_memory + byte_offset)};
}

template <class T>
__device__ __forceinline__ T shared_load(SharedArray<T> s, int i) {
  return s.data[i];
}

template <class T>
__device__ __forceinline__ void shared_store(SharedArray<T> s, int i, T value) {
  s.data[i] = value;
}

template <int W, class T>
__device__ __forceinline__ Vector<T, W> shared_load_vector(SharedArray<T> s, int i) {
  return *reinterpret_cast<const Vector<T, W>*>(s.data + i);
}

template <int W, class T>
__device__ __forceinline__ void shared_store_vector(SharedArray<T> s, int i, Vector<T, W> value) {
  *reinterpret_cast<Vector<T, W>*>(s.data + i) = value;
}

// Atomic updates. Several threads of the block may update one element at the same time.
__device__ __forceinline__ void shared_atomic_add(SharedArray<int> s, int i, int value) {
  atomicAdd(s.data + i, value);
}
__device__ __forceinline__ void shared_atomic_or(SharedArray<unsigned int> s, int i,
                                                 unsigned int value) {
  atomicOr(s.data + i, value);
}

// Every thread of the block must call it. What threads wrote before it, all threads of the block
// can read after it.
__device__ __forceinline__ void block_barrier() { __syncthreads(); }
