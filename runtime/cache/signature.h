#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/crypto.h"

/// Signatures of files that hold native code. A signed file is "HEDDLES\n", 32 bytes of HMAC-SHA256
/// over all that follows, and the file as it is without a signature.
namespace heddle::runtime::cache {

/// One key. Thread-safe.
class Signer {
 public:
  /// Throws TrustError where the library is missing.
  explicit Signer(std::string key, Library<CryptoApi>& library = crypto());
  /// That of HEDDLE_CACHE_KEY, read once and kept; null where it is not set. Throws TrustError
  /// where it is set and holds no key, its file cannot be read or may be read by everybody, or
  /// libcrypto is missing: nothing is signed with less than was asked for.
  static const Signer* global();

  std::string sign(std::string_view content) const;
  /// What was signed; nullopt unless this key has signed it. Looks at no byte of it before.
  std::optional<std::string_view> open(std::string_view file) const;

 private:
  std::string code_of(std::string_view content) const;
  const CryptoApi* api_;
  std::string key_;
};

/// The content as it is to be written: signed where there is a signer.
std::string sealed(const Signer* signer, std::string content);
/// What a file holds: with a signer nullopt unless it has signed it, else whether it is signed or
/// not.
std::optional<std::string_view> opened(const Signer* signer, std::string_view file);

/// The key that HEDDLE_CACHE_KEY's value says: at least 32 hexadecimal digits, an even number; or,
/// where it has a '/', the path of a file of such digits. Throws TrustError.
std::string key_from(const std::string& value);

/// Bytes of the signature before the content.
inline constexpr std::size_t signature_bytes = 40;

}  // namespace heddle::runtime::cache
