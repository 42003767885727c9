//! section host_atomic
// For host kernels, whose ranges run on several threads.
template <class T>
inline void atomic_add(T* p, T value) {
  __atomic_fetch_add(p, value, __ATOMIC_RELAXED);
}
template <class T>
inline void atomic_max(T* p, T value) {
  T seen = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (seen < value &&
         !__atomic_compare_exchange_n(p, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}
