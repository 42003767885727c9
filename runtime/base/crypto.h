#pragma once

#include <cstddef>

#include "runtime/base/library.h"

namespace heddle::runtime {

/// The functions of OpenSSL's libcrypto used to sign files. OpenSSL's headers are not needed.
struct CryptoApi {
  const void* (*EVP_sha256)() = nullptr;
  unsigned char* (*HMAC)(const void* digest, const void* key, int key_bytes,
                         const unsigned char* data, std::size_t bytes, unsigned char* out,
                         unsigned* out_bytes) = nullptr;
  /// 0 if the buffers are equal. Runs in constant time: the position of a difference does not
  /// matter.
  int (*CRYPTO_memcmp)(const void* a, const void* b, std::size_t bytes) = nullptr;
};

/// The request by which libcrypto is searched for.
LibraryRequest crypto_request();
/// The definition by which libcrypto is opened.
Library<CryptoApi>::Definition crypto_definition(LibraryRequest request);
/// The process-wide libcrypto. Never destroyed.
Library<CryptoApi>& crypto();

}  // namespace heddle::runtime
