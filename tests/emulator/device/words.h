// Twin of section words. Only the elements are read; the rest of the words is what a kernel must
// not depend on.
#pragma once

#include "global_access.h"

template <int Count>
struct Words {
  static constexpr int bytes = Count % 2 == 0 ? 8 : 4;
  unsigned int at[Count + bytes / 4];
  unsigned int skipped;
};

template <int Count, class T, class Index>
__forceinline__ Words<Count> load_words(const T* p, Index i, HEDDLE_EMULATOR_PLACE) {
  Words<Count> words;
  words.skipped = static_cast<unsigned int>(reinterpret_cast<unsigned long long>(p + i) &
                                            (Words<Count>::bytes - 1));
  for (unsigned int& word : words.at) word = 0xa5a5a5a5u;
  unsigned char* begin = reinterpret_cast<unsigned char*>(words.at) + words.skipped;
  constexpr int elements = 4 * Count / static_cast<int>(sizeof(T));
  for (int k = 0; k < elements; ++k) {
    const T element = heddle_emulator::read_global<T, T>("load_words", p, i + k, {file, line});
    __builtin_memcpy(begin + k * sizeof(T), &element, sizeof(T));
  }
  return words;
}
