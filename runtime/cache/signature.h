#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/crypto.h"

/// Signatures of files that contain native code. A signed file consists of "HEDDLES\n", 32 bytes of
/// HMAC-SHA256 over everything that follows, and the unsigned file.
namespace heddle::runtime::cache {

/// Signs and verifies with one key. Thread-safe.
class Signer {
 public:
  /// Throws TrustError if the library is missing.
  explicit Signer(std::string key, Library<CryptoApi>& library = crypto());
  /// The signer with the key of HEDDLE_CACHE_KEY, which is read once; null if that is not set.
  /// Throws TrustError if it is set but is not a valid key, if its key file cannot be read or is
  /// readable by everybody, or if libcrypto is missing. It never falls back to unsigned files.
  static const Signer* global();

  std::string sign(std::string_view content) const;
  /// The signed content; nullopt unless the signature is valid for this key. Does not parse the
  /// content before that.
  std::optional<std::string_view> open(std::string_view file) const;

 private:
  std::string code_of(std::string_view content) const;
  const CryptoApi* api_;
  std::string key_;
};

/// The content as it is written to a file: signed if there is a signer.
std::string sealed(const Signer* signer, std::string content);
/// The content of a file. With a signer, nullopt unless the signature is valid; without, the
/// content whether the file is signed or not.
std::optional<std::string_view> opened(const Signer* signer, std::string_view file);

/// Parses the value of HEDDLE_CACHE_KEY: at least 32 hexadecimal digits, an even number of them;
/// or, if it contains a '/', the path of a file with such digits. Throws TrustError.
std::string key_from(const std::string& value);

/// Size of the signature before the content, in bytes.
inline constexpr std::size_t signature_bytes = 40;

}  // namespace heddle::runtime::cache
