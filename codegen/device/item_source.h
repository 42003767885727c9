#pragma once
//! section item_source needs shared
// A function of an element's index, with the item whose elements a thread makes and the thread's
// number among those of this item. It is for a routine's first stage: in the stages that follow,
// the same thread may work on another item of the block.
template <class Make, class T>
struct ItemSource {
  const Make& make;
  int lane;
  SharedArray<T> item;
};
template <class Make, class T>
__device__ __forceinline__ ItemSource<Make, T> item_source(const Make& make, int lane,
                                                           SharedArray<T> item) {
  return {make, lane, item};
}
template <class X>
inline constexpr bool is_item_source = false;
template <class Make, class T>
inline constexpr bool is_item_source<ItemSource<Make, T>> = true;
