#pragma once
//! section philox needs core
//! defines philox
namespace heddle_scalar {
// Philox4x32-10; the counter's upper half is 0, and so are the words of the result not given.
HD_SCALAR unsigned long long philox(unsigned long long key, unsigned long long counter) {
  unsigned int k0 = static_cast<unsigned int>(key), k1 = static_cast<unsigned int>(key >> 32);
  unsigned int c0 = static_cast<unsigned int>(counter), c2 = 0;
  unsigned int c1 = static_cast<unsigned int>(counter >> 32), c3 = 0;
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * c0, b = 0xCD9E8D57ull * c2;
    c0 = static_cast<unsigned int>(b >> 32) ^ c1 ^ k0;
    c2 = static_cast<unsigned int>(a >> 32) ^ c3 ^ k1;
    c1 = static_cast<unsigned int>(b);
    c3 = static_cast<unsigned int>(a);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return (static_cast<unsigned long long>(c1) << 32) | c0;
}
}  // namespace heddle_scalar
