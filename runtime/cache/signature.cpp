#include "runtime/cache/signature.h"

#include <array>
#include <charconv>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"
#include "runtime/cache/files.h"
#include "runtime/cache/trust.h"

namespace heddle::runtime::cache {

namespace {

constexpr std::string_view magic = "HEDDLES\n";
constexpr std::size_t code_bytes = 32;
static_assert(magic.size() + code_bytes == signature_bytes);
constexpr std::size_t fewest_digits = 32;

[[noreturn]] void refuse(std::string_view why) {
  throw TrustError(
      fmt::format("HEDDLE_CACHE_KEY {}. It must be a key of at least {} hexadecimal digits, an "
                  "even number, or the path (with a '/') of a file that contains them and that "
                  "only its owner and group can read; `openssl rand -hex 32` makes a key",
                  why, fewest_digits));
}

/// Decodes hexadecimal digits; nullopt for other text.
std::optional<std::string> bytes_of(std::string_view digits) {
  if (digits.size() < fewest_digits || digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    unsigned value = 0;
    const char* const end = digits.data() + i + 2;
    if (std::from_chars(digits.data() + i, end, value, 16).ptr != end) return std::nullopt;
    bytes += static_cast<char>(value);
  }
  return bytes;
}

std::string text_of_key_file(const std::string& path) {
  constexpr std::uint64_t largest = 4096;
  std::string text;
  FileFacts facts;
  if (const int error = read_file(path, largest, text, facts))
    refuse(fmt::format("names {}: {}", path, std::strerror(error)));
  if (!facts.regular) refuse(fmt::format("names {}, which is not a regular file", path));
  const std::string foreign = why_foreign(facts);
  if (!foreign.empty()) refuse(fmt::format("names {}, which is not trusted: {}", path, foreign));
  constexpr unsigned readable_by_all = 04;
  if ((facts.mode & readable_by_all) != 0) {
    refuse(fmt::format("names {}, which every user can read ({}); set its mode to 0600", path,
                       owner_and_mode(facts)));
  }
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

}  // namespace

std::string key_from(const std::string& value) {
  const bool is_path = value.find('/') != std::string::npos;
  const std::optional<std::string> key = bytes_of(is_path ? text_of_key_file(value) : value);
  // The message does not contain the text, which may be nearly a key.
  if (!key)
    refuse(is_path ? fmt::format("names {}, which does not contain a key", value) : "is not a key");
  return *key;
}

Signer::Signer(std::string key, Library<CryptoApi>& library) : api_(nullptr), key_(std::move(key)) {
  try {
    api_ = &library.api();
  } catch (const DeviceError& error) {
    throw TrustError(fmt::format("HEDDLE_CACHE_KEY is set, but {}", error.what()));
  }
}

const Signer* Signer::global() {
  static constinit ir::LazyStatic<std::unique_ptr<const Signer>> signer;
  return signer
      .get([]() -> std::unique_ptr<const Signer> {
        if (!ir::is_set(ir::Variable::cache_key)) return nullptr;
        return std::make_unique<const Signer>(key_from(ir::environment(ir::Variable::cache_key)));
      })
      .get();
}

std::string Signer::code_of(std::string_view content) const {
  std::array<unsigned char, 64> code{};
  unsigned bytes = 0;
  const unsigned char* const made = api_->HMAC(
      api_->EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
      reinterpret_cast<const unsigned char*>(content.data()), content.size(), code.data(), &bytes);
  if (made == nullptr || bytes != code_bytes)
    throw TrustError("HEDDLE_CACHE_KEY is set, but libcrypto could not compute HMAC-SHA256");
  return {reinterpret_cast<const char*>(code.data()), code_bytes};
}

std::string Signer::sign(std::string_view content) const {
  std::string file(magic);
  file.reserve(signature_bytes + content.size());
  file += code_of(content);
  file += content;
  return file;
}

std::optional<std::string_view> Signer::open(std::string_view file) const {
  if (file.size() < signature_bytes || !file.starts_with(magic)) return std::nullopt;
  const std::string_view content = file.substr(signature_bytes);
  const std::string code = code_of(content);
  if (api_->CRYPTO_memcmp(code.data(), file.data() + magic.size(), code_bytes) != 0)
    return std::nullopt;
  return content;
}

std::string sealed(const Signer* signer, std::string content) {
  return signer != nullptr ? signer->sign(content) : std::move(content);
}

std::optional<std::string_view> opened(const Signer* signer, std::string_view file) {
  if (signer != nullptr) return signer->open(file);
  if (file.size() >= signature_bytes && file.starts_with(magic))
    return file.substr(signature_bytes);
  return file;
}

}  // namespace heddle::runtime::cache
