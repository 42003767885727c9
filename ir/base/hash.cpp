#include "ir/base/hash.h"

#include <new>

#include <fmt/format.h>
#include <xxhash.h>

namespace heddle::ir {
namespace {

XXH3_state_t* state_of(void* state) { return static_cast<XXH3_state_t*>(state); }

void append(void* state, const void* data, std::size_t size) {
  XXH3_128bits_update(state_of(state), data, size);
}

}  // namespace

std::string Hash128::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

Hash128 hash_of(std::string_view bytes) {
  const XXH128_hash_t digest = XXH3_128bits(bytes.data(), bytes.size());
  return {digest.low64, digest.high64};
}

Hasher::Hasher() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state_of(state_));
}

Hasher::~Hasher() { XXH3_freeState(state_of(state_)); }

Hasher& Hasher::bytes(std::string_view field) {
  const std::uint64_t size = field.size();
  append(state_, &size, sizeof size);
  append(state_, field.data(), field.size());
  return *this;
}

Hasher& Hasher::number(std::uint64_t value) {
  const std::uint64_t field[2] = {sizeof value, value};
  append(state_, field, sizeof field);
  return *this;
}

Hasher& Hasher::hash(Hash128 value) {
  const std::uint64_t field[3] = {sizeof value, value.low, value.high};
  append(state_, field, sizeof field);
  return *this;
}

Hash128 Hasher::finish() const {
  const XXH128_hash_t digest = XXH3_128bits_digest(state_of(state_));
  return {digest.low64, digest.high64};
}

}  // namespace heddle::ir
