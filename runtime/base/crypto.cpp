#include "runtime/base/crypto.h"

namespace heddle::runtime {

namespace {

std::string bind(CryptoApi& api, const DynamicLibrary& library, std::string& missing) {
  library.bind(api.EVP_sha256, "EVP_sha256", missing);
  library.bind(api.HMAC, "HMAC", missing);
  library.bind(api.CRYPTO_memcmp, "CRYPTO_memcmp", missing);
  const auto version =
      reinterpret_cast<const char* (*)(int part)>(library.symbol("OpenSSL_version"));
  return version != nullptr ? version(0) : "";
}

}  // namespace

LibraryRequest crypto_request() {
  return {.title = "OpenSSL's libcrypto",
          .names = {"libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so"},
          .variable = ir::Variable::libcrypto,
          .system_only = true};
}

Library<CryptoApi>::Definition crypto_definition(LibraryRequest request) {
  return {.request = std::move(request),
          .mend =
              "Install OpenSSL (Debian's libssl3), or set HEDDLE_LIBCRYPTO to the library's file "
              "or folder.",
          .without = "files cannot be signed",
          .bind = bind};
}

Library<CryptoApi>& crypto() {
  static auto* const library = new Library<CryptoApi>(crypto_definition(crypto_request()));
  return *library;
}

}  // namespace heddle::runtime
