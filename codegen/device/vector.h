//! section vector
// W consecutive elements, accessed together. The alignment is their total size, but at most 16
// bytes. W is a power of two.
template <class T, int W>
struct alignas(sizeof(T) * W < 16 ? sizeof(T) * W : 16) Vector {
  T v[W];
};
