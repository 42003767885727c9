#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::ir {

/// A 128-bit hash of a structure. Equal in every process.
struct Hash128 {
  std::uint64_t low = 0, high = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
  std::string hex() const;
};

struct Hash128Hasher {
  std::size_t operator()(const Hash128& h) const { return h.low ^ h.high; }
};

/// XXH3-128 of the bytes.
Hash128 hash_of(std::string_view bytes);

/// XXH3-128 over fields, each prefixed by its length, so that fields cannot run into each other.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  Hasher& bytes(std::string_view field);
  Hasher& number(std::uint64_t value);
  Hasher& hash(Hash128 value);
  Hash128 finish() const;

 private:
  void* state_;
};

}  // namespace heddle::ir
