//! section warp
// Exchanges between the 32 lanes of a warp. All lanes must take part, so blocks that use them have
// a multiple of 32 threads. `width` is a power of two up to 32; lanes exchange within groups of
// that size. Values of any trivially copyable type are moved as 32-bit words.
template <class T>
struct ShuffleWords {
  static constexpr int count = (sizeof(T) + 3) / 4;
  unsigned int words[count];
  __device__ __forceinline__ explicit ShuffleWords(const T& value) {
    words[count - 1] = 0;
    memcpy(words, &value, sizeof(T));
  }
  __device__ __forceinline__ T value(T result) const {
    memcpy(&result, words, sizeof(T));
    return result;
  }
};

// The value of the lane `delta` higher; a lane too near the end of its group keeps its own.
template <class T>
__device__ __forceinline__ T shuffle_down(T value, int delta, int width) {
  ShuffleWords<T> moved(value);
#pragma unroll
  for (int k = 0; k < ShuffleWords<T>::count; ++k) {
    moved.words[k] = __shfl_down_sync(0xffffffffu, moved.words[k], delta, width);
  }
  return moved.value(value);
}

// The value of the lane `delta` lower; a lane too near the start of its group keeps its own.
template <class T>
__device__ __forceinline__ T shuffle_up(T value, int delta, int width) {
  ShuffleWords<T> moved(value);
#pragma unroll
  for (int k = 0; k < ShuffleWords<T>::count; ++k) {
    moved.words[k] = __shfl_up_sync(0xffffffffu, moved.words[k], delta, width);
  }
  return moved.value(value);
}

// The value of the lane with the index lane ^ lane_mask; lane_mask is below width.
template <class T>
__device__ __forceinline__ T shuffle_xor(T value, int lane_mask, int width) {
  ShuffleWords<T> moved(value);
#pragma unroll
  for (int k = 0; k < ShuffleWords<T>::count; ++k) {
    moved.words[k] = __shfl_xor_sync(0xffffffffu, moved.words[k], lane_mask, width);
  }
  return moved.value(value);
}

// The value of lane `lane` of the group.
template <class T>
__device__ __forceinline__ T shuffle(T value, int lane, int width) {
  ShuffleWords<T> moved(value);
#pragma unroll
  for (int k = 0; k < ShuffleWords<T>::count; ++k) {
    moved.words[k] = __shfl_sync(0xffffffffu, moved.words[k], lane, width);
  }
  return moved.value(value);
}

// Bit l is the vote of lane l.
__device__ __forceinline__ unsigned int ballot(bool vote) {
  return __ballot_sync(0xffffffffu, vote);
}

// Orders memory accesses among the lanes of the warp.
__device__ __forceinline__ void warp_barrier() { __syncwarp(0xffffffffu); }
