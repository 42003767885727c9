#pragma once

#include <string>
#include <vector>

#include "runtime/cache/signature.h"

/// Files of every format that Heddle reads, good ones, and what reads them.
namespace heddle::test {

struct Format {
  std::string name;
  std::vector<std::string> good;  ///< whole files
  /// Makes the checksums of a changed file right; null where the format has none.
  std::string (*mend)(std::string bytes) = nullptr;
  /// Reads a file as far as its content reaches: everything but running machine code. False where
  /// that is left alone, as the cache does with what is no entry. `path` is where it may be
  /// written. Throws what reading throws.
  bool (*read)(const std::string& path, const std::string& bytes) = nullptr;
  bool holds_code = false;  ///< machine code, so that HEDDLE_CACHE_KEY signs it
};

/// Makes the good files, for which it compiles a program for the CPU.
std::vector<Format> make_formats();

}  // namespace heddle::test
