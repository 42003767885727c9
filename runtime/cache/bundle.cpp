#include "runtime/cache/bundle.h"

#include <bit>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "heddle/error.h"

#include "runtime/cache/entry.h"
#include "runtime/cache/files.h"

namespace heddle::runtime::cache {

namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::string_view magic = "HEDDLEB\n";

FileError no_bundle(const std::string& path, std::string_view why) {
  return FileError(fmt::format("{} is no bundle of `heddle cache export`: {}", path, why));
}

}  // namespace

std::string read_shipped(const std::string& path) {
  std::string bytes;
  FileFacts facts;
  if (const int error = read_file(path, std::numeric_limits<std::uint64_t>::max(), bytes, facts))
    throw FileError(fmt::format("{}: {}", path, std::strerror(error)));
  return bytes;
}

Bundle::Bundle(const std::string& path) : Bundle(read_shipped(path), path) {}

Bundle::Bundle(std::string bytes, const std::string& path) : bytes_(std::move(bytes)), path_(path) {
  if (!bytes_.starts_with(magic)) throw no_bundle(path, "it begins otherwise");
  for (std::uint64_t at = magic.size(); at < bytes_.size();) {
    std::uint64_t length = 0;
    if (bytes_.size() - at < sizeof length) throw no_bundle(path, "it is cut off");
    std::memcpy(&length, bytes_.data() + at, sizeof length);
    at += sizeof length;
    if (bytes_.size() - at < length) throw no_bundle(path, "it is cut off");
    const auto key = peek_key_text(std::string_view(bytes_).substr(at, length), length);
    if (!key) throw no_bundle(path, fmt::format("at byte {} is no entry of this version", at));
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

void write_shipped(const std::string& path, std::string_view bytes) {
  if (const int error = publish_file(path, bytes))
    throw FileError(fmt::format("{}: {}", path, std::strerror(error)));
}

void write_bundle(const std::string& path, const std::vector<std::string>& entries) {
  write_shipped(path, encode_bundle(entries));
}

}  // namespace heddle::runtime::cache
