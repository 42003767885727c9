//! section words needs memory
// The aligned memory that holds the 4 * Count bytes from p + i on, where elements are narrower than
// 4 bytes: words of 8 bytes if Count is even, else of 4. `skipped` bytes come before these.
template <int Count>
struct Words {
  static constexpr int bytes = Count % 2 == 0 ? 8 : 4;
  static constexpr int count = 4 * Count / bytes;
  unsigned int at[Count + bytes / 4];
  unsigned int skipped;
};

// No word is read that holds none of the bytes.
template <int Count, class T, class Index>
__device__ __forceinline__ Words<Count> load_words(const T* p, Index i) {
  using W = Words<Count>;
  using Word = typename MemoryWord<W::bytes>::Type;
  W words;
  words.skipped =
      static_cast<unsigned int>(reinterpret_cast<unsigned long long>(p + i) & (W::bytes - 1));
  const auto* begin = reinterpret_cast<const unsigned char*>(p + i) - words.skipped;
  const auto* source = reinterpret_cast<const Word*>(begin);
  Word read[W::count + 1];
#pragma unroll
  for (int k = 0; k < W::count; ++k) read[k] = source[k];
  read[W::count] = words.skipped != 0 ? source[W::count] : Word();
  memcpy(words.at, read, sizeof(words.at));
  return words;
}

//! section unaligned needs words
// A vector that begins at any element.
template <int W, class T, class Index>
__device__ __forceinline__ Vector<T, W> load_unaligned(const T* p, Index i) {
  constexpr int count = static_cast<int>(sizeof(T)) * W / 4;
  const Words<count> words = load_words<count>(p, i);
  unsigned int from[count + 1];
#pragma unroll
  for (int k = 0; k <= count; ++k) {
    from[k] = words.at[k];
    if constexpr (Words<count>::bytes == 8)
      from[k] = words.skipped >= 4 ? words.at[k + 1] : from[k];
  }
  unsigned int shifted[count];
#pragma unroll
  for (int k = 0; k < count; ++k) {
    const unsigned long long both = static_cast<unsigned long long>(from[k + 1]) << 32 | from[k];
    shifted[k] = static_cast<unsigned int>(both >> 8 * (words.skipped & 3));
  }
  Vector<T, W> result;
  memcpy(&result, shifted, sizeof(result));
  return result;
}
