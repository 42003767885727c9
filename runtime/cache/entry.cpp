#include "runtime/cache/entry.h"

#include <array>
#include <bit>
#include <cstring>
#include <memory>

#include <xxhash.h>

#include "runtime/cache/signature.h"

namespace heddle::runtime::cache {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view magic = "HEDDLEC\n";
constexpr std::size_t checksum_offset = 40;
constexpr std::size_t checksum_bytes = 16;
static_assert(checksum_offset + checksum_bytes == header_bytes);

template <class T>
void put(std::string& out, T value) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  out.append(bytes.data(), bytes.size());
}

template <class T>
T get(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::array<char, checksum_bytes> checksum(std::string_view bytes) {
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  const std::unique_ptr<XXH3_state_t, Free> state(XXH3_createState());
  XXH3_128bits_reset(state.get());
  XXH3_128bits_update(state.get(), bytes.data(), checksum_offset);
  XXH3_128bits_update(state.get(), bytes.data() + header_bytes, bytes.size() - header_bytes);
  const XXH128_hash_t sum = XXH3_128bits_digest(state.get());
  std::array<char, checksum_bytes> out;
  std::memcpy(out.data(), &sum.low64, 8);
  std::memcpy(out.data() + 8, &sum.high64, 8);
  return out;
}

struct Sizes {
  std::uint64_t key = 0, facts = 0, payload = 0;
};

/// Parses the header. nullopt unless it is valid and the parts fill exactly `file_bytes`.
std::optional<Sizes> read_header(std::string_view bytes, std::uint64_t file_bytes) {
  if (bytes.size() < header_bytes || !bytes.starts_with(magic)) return std::nullopt;
  if (get<std::uint32_t>(bytes, 8) != format_version) return std::nullopt;
  const auto kind = get<std::uint32_t>(bytes, 12);
  if (kind < static_cast<std::uint32_t>(PayloadKind::program) ||
      kind > static_cast<std::uint32_t>(PayloadKind::uncompiled)) {
    return std::nullopt;
  }
  const Sizes sizes{get<std::uint64_t>(bytes, 16), get<std::uint64_t>(bytes, 24),
                    get<std::uint64_t>(bytes, 32)};
  // Checked individually first, so that the sum below cannot overflow.
  if (sizes.key > file_bytes || sizes.facts > file_bytes || sizes.payload > file_bytes) {
    return std::nullopt;
  }
  if (header_bytes + sizes.key + sizes.facts + sizes.payload != file_bytes) return std::nullopt;
  return sizes;
}

}  // namespace

std::string encode(const Entry& entry) {
  std::string out;
  out.reserve(header_bytes + entry.key_text.size() + entry.facts.size() + entry.payload.size());
  out += magic;
  put(out, format_version);
  put(out, static_cast<std::uint32_t>(entry.kind));
  put(out, static_cast<std::uint64_t>(entry.key_text.size()));
  put(out, static_cast<std::uint64_t>(entry.facts.size()));
  put(out, static_cast<std::uint64_t>(entry.payload.size()));
  out.append(checksum_bytes, '\0');
  out += entry.key_text;
  out += entry.facts;
  out += entry.payload;
  const auto sum = checksum(out);
  out.replace(checksum_offset, checksum_bytes, sum.data(), sum.size());
  return out;
}

std::optional<Entry> decode(std::string_view bytes) {
  const auto sizes = read_header(bytes, bytes.size());
  if (!sizes) return std::nullopt;
  const auto sum = checksum(bytes);
  if (bytes.substr(checksum_offset, checksum_bytes) != std::string_view(sum.data(), sum.size())) {
    return std::nullopt;
  }
  Entry out;
  out.kind = static_cast<PayloadKind>(get<std::uint32_t>(bytes, 12));
  bytes.remove_prefix(header_bytes);
  out.key_text = bytes.substr(0, sizes->key);
  out.facts = bytes.substr(sizes->key, sizes->facts);
  out.payload = bytes.substr(sizes->key + sizes->facts);
  return out;
}

bool begins_as_entry(std::string_view prefix, std::uint64_t file_bytes) {
  const std::optional<std::string_view> content = opened(nullptr, prefix);
  return read_header(*content, file_bytes - (prefix.size() - content->size())).has_value();
}

std::optional<std::string> peek_key_text(std::string_view prefix, std::uint64_t file_bytes) {
  const auto sizes = read_header(prefix, file_bytes);
  if (!sizes || prefix.size() - header_bytes < sizes->key) return std::nullopt;
  return std::string(prefix.substr(header_bytes, sizes->key));
}

}  // namespace heddle::runtime::cache
