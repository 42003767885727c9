//! section part needs memory
// Vector accesses at the end of an array, where only the first `valid` elements exist. The others
// are read as zero and not written.
template <int W, class T, class Index>
__device__ __forceinline__ Vector<T, W> load_part(const T* p, Index i, Index valid) {
  if (valid >= W) return load_vector<W>(p, i);
  Vector<T, W> result;
#pragma unroll
  for (int k = 0; k < W; ++k) result.v[k] = k < valid ? load(p, i + k) : T();
  return result;
}

template <int W, class T, class Index>
__device__ __forceinline__ void store_part(T* p, Index i, Vector<T, W> value, Index valid) {
  if (valid >= W) return store_vector<W>(p, i, value);
#pragma unroll
  for (int k = 0; k < W; ++k) {
    if (k < valid) store(p, i + k, value.v[k]);
  }
}

//! section guarded needs memory
// Accesses memory only if the guard is true.
template <class T, class Index>
__device__ __forceinline__ T load_if(bool guard, const T* p, Index i) {
  return guard ? load(p, i) : T();
}
