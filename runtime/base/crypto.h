#pragma once

#include <cstddef>

#include "runtime/base/library.h"

namespace heddle::runtime {

/// The functions of OpenSSL's libcrypto that sign files. Its header is not needed.
struct CryptoApi {
  const void* (*EVP_sha256)() = nullptr;
  unsigned char* (*HMAC)(const void* digest, const void* key, int key_bytes,
                         const unsigned char* data, std::size_t bytes, unsigned char* out,
                         unsigned* out_bytes) = nullptr;
  /// 0 where they are equal; takes as long wherever they differ.
  int (*CRYPTO_memcmp)(const void* a, const void* b, std::size_t bytes) = nullptr;
};

/// Where libcrypto is looked for.
LibraryRequest crypto_request();
/// How it is opened.
Library<CryptoApi>::Definition crypto_definition(LibraryRequest request);
/// The process's. Never destroyed.
Library<CryptoApi>& crypto();

}  // namespace heddle::runtime
