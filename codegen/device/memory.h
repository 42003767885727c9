//! section memory needs vector
// Global memory. Indices count elements. Vector accesses need p + i aligned as Vector<T, W> is;
// vectors of more than 16 bytes are moved as several 16-byte words. The streaming forms are for
// data accessed only once: they avoid displacing other data from the caches.
template <int Bytes>
struct MemoryWord;
template <>
struct MemoryWord<1> {
  using Type = unsigned char;
};
template <>
struct MemoryWord<2> {
  using Type = unsigned short;
};
template <>
struct MemoryWord<4> {
  using Type = unsigned int;
};
template <>
struct MemoryWord<8> {
  using Type = uint2;
};
template <>
struct MemoryWord<16> {
  using Type = uint4;
};

// The words in which V is moved. The memcpy between them and V compiles to nothing.
template <class V>
struct MemoryWords {
  static constexpr int bytes = sizeof(V) < 16 ? sizeof(V) : 16;
  static constexpr int count = sizeof(V) / bytes;
  using Word = typename MemoryWord<bytes>::Type;
  Word words[count];
};

template <int W, class T, class Index>
__device__ __forceinline__ Vector<T, W> load_vector(const T* p, Index i) {
  using Words = MemoryWords<Vector<T, W>>;
  const auto* source = reinterpret_cast<const typename Words::Word*>(p + i);
  Words words;
#pragma unroll
  for (int k = 0; k < Words::count; ++k) words.words[k] = source[k];
  Vector<T, W> result;
  memcpy(&result, &words, sizeof(result));
  return result;
}

template <int W, class T, class Index>
__device__ __forceinline__ void store_vector(T* p, Index i, Vector<T, W> value) {
  using Words = MemoryWords<Vector<T, W>>;
  auto* target = reinterpret_cast<typename Words::Word*>(p + i);
  Words words;
  memcpy(&words, &value, sizeof(value));
#pragma unroll
  for (int k = 0; k < Words::count; ++k) target[k] = words.words[k];
}

// A pair is moved as one word: arrays are aligned to the size of their elements.
template <class T>
constexpr bool moves_as_pair = sizeof(T) == 2 * alignof(T) && sizeof(T) <= 16;

// An element that a user's function reads and writes in its own ways.
template <class T, class Index>
__device__ __forceinline__ T& element(T* p, Index i) {
  return p[i];
}

template <class T, class Index>
__device__ __forceinline__ T load(const T* p, Index i) {
  if constexpr (moves_as_pair<T>) {
    return load_vector<1>(p, i).v[0];
  } else {
    return p[i];
  }
}

template <class T, class Index>
__device__ __forceinline__ void store(T* p, Index i, T value) {
  if constexpr (moves_as_pair<T>) {
    store_vector<1>(p, i, Vector<T, 1>{{value}});
  } else {
    p[i] = value;
  }
}

template <int W, class T, class Index>
__device__ __forceinline__ Vector<T, W> load_streaming_vector(const T* p, Index i) {
  using Words = MemoryWords<Vector<T, W>>;
  const auto* source = reinterpret_cast<const typename Words::Word*>(p + i);
  Words words;
#pragma unroll
  for (int k = 0; k < Words::count; ++k) words.words[k] = __ldcs(source + k);
  Vector<T, W> result;
  memcpy(&result, &words, sizeof(result));
  return result;
}

template <int W, class T, class Index>
__device__ __forceinline__ void store_streaming_vector(T* p, Index i, Vector<T, W> value) {
  using Words = MemoryWords<Vector<T, W>>;
  auto* target = reinterpret_cast<typename Words::Word*>(p + i);
  Words words;
  memcpy(&words, &value, sizeof(value));
#pragma unroll
  for (int k = 0; k < Words::count; ++k) __stcs(target + k, words.words[k]);
}

template <class T, class Index>
__device__ __forceinline__ T load_streaming(const T* p, Index i) {
  return load_streaming_vector<1>(p, i).v[0];
}

template <class T, class Index>
__device__ __forceinline__ void store_streaming(T* p, Index i, T value) {
  store_streaming_vector<1>(p, i, Vector<T, 1>{{value}});
}

// Lets the compiler replace signed divisions by shifts, and share parts of neighbouring index
// computations.
template <class Index>
__device__ __forceinline__ void assume_not_negative(Index i) {
  __builtin_assume(i >= 0);
}
