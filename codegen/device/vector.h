//! section vector
// W neighbouring elements, aligned as one access: to their size, at most to 16 bytes. W is a power
// of two.
template <class T, int W>
struct alignas(sizeof(T) * W < 16 ? sizeof(T) * W : 16) Vector {
  T v[W];
};
