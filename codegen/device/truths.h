//! section truths needs core vector
// Four truth values, the bytes of a word, each 0 or 1.
namespace heddle_scalar {
struct Truths {
  unsigned int bytes;

  HD_SCALAR Truths(bool all) : bytes(all ? 0x01010101u : 0u) {}
  static HD_SCALAR Truths of(unsigned int bytes) {
    Truths result(false);
    result.bytes = bytes;
    return result;
  }
  template <int W>
  static HD_SCALAR Truths at(const Vector<bool, W>& vector, int k) {
    unsigned int bytes;
    memcpy(&bytes, vector.v + k, sizeof(bytes));
    return of(bytes);
  }
  template <int W>
  HD_SCALAR void put(Vector<bool, W>& vector, int k) const {
    memcpy(vector.v + k, &bytes, sizeof(bytes));
  }
};

HD_SCALAR Truths invert(Truths x) { return Truths::of(x.bytes ^ 0x01010101u); }
HD_SCALAR Truths bitwise_and(Truths a, Truths b) { return Truths::of(a.bytes & b.bytes); }
HD_SCALAR Truths bitwise_or(Truths a, Truths b) { return Truths::of(a.bytes | b.bytes); }
HD_SCALAR Truths bitwise_xor(Truths a, Truths b) { return Truths::of(a.bytes ^ b.bytes); }
HD_SCALAR Truths logical_not(Truths x) { return invert(x); }
HD_SCALAR Truths logical_and(Truths a, Truths b) { return bitwise_and(a, b); }
HD_SCALAR Truths logical_or(Truths a, Truths b) { return bitwise_or(a, b); }
HD_SCALAR Truths logical_xor(Truths a, Truths b) { return bitwise_xor(a, b); }
HD_SCALAR Truths not_equal(Truths a, Truths b) { return bitwise_xor(a, b); }
HD_SCALAR Truths equal(Truths a, Truths b) { return invert(bitwise_xor(a, b)); }
HD_SCALAR Truths multiply(Truths a, Truths b) { return bitwise_and(a, b); }
HD_SCALAR Truths minimum(Truths a, Truths b) { return bitwise_and(a, b); }
HD_SCALAR Truths add(Truths a, Truths b) { return bitwise_or(a, b); }
HD_SCALAR Truths maximum(Truths a, Truths b) { return bitwise_or(a, b); }
}  // namespace heddle_scalar
