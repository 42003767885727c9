#include "runtime/cache/bundle.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "runtime/base/host_memory.h"
#include "runtime/cache/entry.h"
#include "runtime/cache/files.h"
#include "runtime/cache/signature.h"
#include "runtime/cache/trust.h"

namespace heddle::runtime::cache {

namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::string_view magic = "HEDDLEB\n";

/// The prefix of shipped files, bundles and saved programs: "HEDDLE" and a letter.
bool begins_as_shipped(std::string_view prefix, std::uint64_t) {
  return prefix.starts_with(magic.substr(0, 6));
}

FileError no_bundle(const std::string& path, std::string_view why) {
  return FileError(
      fmt::format("{} is not a bundle written by `heddle cache export`: {}", path, why));
}

}  // namespace

namespace {

/// The reason why a shipped file is refused; empty if it may be read.
std::string why_not_read(const std::string& path, const FileFacts& facts, std::uint64_t most) {
  if (!facts.regular) return fmt::format("{} is not a regular file", path);
  if (facts.bytes <= most) return {};
  return fmt::format("{} has {} bytes, but only {} bytes of memory are free", path, facts.bytes,
                     most);
}

void require_trust(const std::string& path, const FileFacts& facts) {
  std::string why = why_foreign(facts);
  if (why.empty()) why = why_foreign_folder(path);
  if (why.empty()) return;
  throw TrustError(fmt::format(
      "{} is not loaded: it contains code that would be executed, and other users may have written "
      "it: {}. Change the owner to you or root (chown), and let nobody else write to the file and "
      "its folder (chmod go-w). If you trust everyone who can write to it, use Trust::anyone, in "
      "Python trust=True, on the command line --trust, or HEDDLE_CACHE_TRUST=1",
      path, why));
}

}  // namespace

std::string read_shipped(const std::string& path, Foreign foreign) {
  const Signer* const signer = Signer::global();
  // The number of free bytes is an estimate, so it limits only large files.
  constexpr std::uint64_t worth_asking = std::uint64_t{64} << 20;
  const std::uint64_t most = std::max<std::uint64_t>(host_free_bytes(), worth_asking);
  std::string bytes;
  FileFacts facts;
  const Plausible plausible = signer == nullptr ? begins_as_shipped : nullptr;
  if (const int error = read_file(path, most, bytes, facts, plausible))
    throw FileError(fmt::format("{}: {}", path, describe_error(path, error)));
  if (const std::string why = why_not_read(path, facts, most); !why.empty()) throw FileError(why);
  const bool is_taken = foreign == Foreign::taken || ir::flag(ir::Variable::cache_trust, false);
  if (signer == nullptr && !is_taken) require_trust(path, facts);
  const std::optional<std::string_view> content = opened(signer, bytes);
  if (!content) {
    throw TrustError(fmt::format(
        "{} is not loaded: it contains code that would be executed, and it is not signed with "
        "HEDDLE_CACHE_KEY ({}). Write it again with that key set, or unset HEDDLE_CACHE_KEY",
        path, owner_and_mode(facts)));
  }
  return content->size() == bytes.size() ? std::move(bytes) : std::string(*content);
}

Bundle::Bundle(std::string bytes, const std::string& path) : bytes_(std::move(bytes)), path_(path) {
  if (!bytes_.starts_with(magic)) throw no_bundle(path, "its header is wrong");
  for (std::uint64_t at = magic.size(); at < bytes_.size();) {
    std::uint64_t length = 0;
    if (bytes_.size() - at < sizeof length) throw no_bundle(path, "it is truncated");
    std::memcpy(&length, bytes_.data() + at, sizeof length);
    at += sizeof length;
    if (bytes_.size() - at < length) throw no_bundle(path, "it is truncated");
    const auto key = peek_key_text(std::string_view(bytes_).substr(at, length), length);
    if (!key)
      throw no_bundle(path, fmt::format("there is no entry of this version at byte {}", at));
    order_.push_back({at, length});
    places_[ir::Hasher().bytes(*key).finish()] = order_.back();
    at += length;
  }
}

std::string_view Bundle::find(const ir::Hash128& key) const {
  const auto found = places_.find(key);
  if (found == places_.end()) return {};
  return std::string_view(bytes_).substr(found->second.begin, found->second.bytes);
}

std::vector<std::string_view> Bundle::entries() const {
  std::vector<std::string_view> out;
  for (const Place& place : order_)
    out.push_back(std::string_view(bytes_).substr(place.begin, place.bytes));
  return out;
}

std::string encode_bundle(const std::vector<std::string>& entries) {
  std::string bytes(magic);
  for (const std::string& entry : entries) {
    const std::uint64_t length = entry.size();
    bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
    bytes += entry;
  }
  return bytes;
}

void write_shipped(const std::string& path, std::string bytes, unsigned mode) {
  const std::string file = sealed(Signer::global(), std::move(bytes));
  if (const int error = publish_file(path, file, {.mode = mode, .lasting = true}))
    throw FileError(fmt::format("{}: {}", path, describe_error(path, error)));
}

}  // namespace heddle::runtime::cache
