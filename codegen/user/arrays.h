#pragma once
//! section user_elements needs user_functions memory
namespace heddle_user {
template <class T, class Stored>
HD_SCALAR T raw_element(const Stored* elements, ptrdiff_t i) {
  return FromMemory<T>::of(load(elements, i));
}
template <class Stored>
HD_SCALAR Stored& raw_reference(Stored* elements, ptrdiff_t i) {
  return element(elements, i);
}
}  // namespace heddle_user

//! section user_elements_host needs user_functions
//! host
namespace heddle_user {
template <class T, class Stored>
HD_SCALAR T raw_element(const Stored* elements, ptrdiff_t i) {
  return FromMemory<T>::of(elements[i]);
}
template <class Stored>
HD_SCALAR Stored& raw_reference(Stored* elements, ptrdiff_t i) {
  return elements[i];
}
}  // namespace heddle_user

//! section user_shapes needs user_functions
namespace heddle_user {
// Of an array of which a function reads or writes elements itself, by their number in C order or by
// indices.
template <int Rank>
struct ArrayShape {
  static constexpr int ndim = Rank;
  ptrdiff_t extents[Rank > 0 ? Rank : 1];
  ptrdiff_t byte_strides[Rank > 0 ? Rank : 1];
  HD_SCALAR ptrdiff_t size() const {
    ptrdiff_t count = 1;
    for (int axis = 0; axis < Rank; ++axis) count *= extents[axis];
    return count;
  }
  HD_SCALAR const ptrdiff_t* shape() const { return extents; }
  HD_SCALAR const ptrdiff_t* strides() const { return byte_strides; }
  template <int Count>
  HD_SCALAR ptrdiff_t number(const ptrdiff_t (&indices)[Count]) const {
    static_assert(Count == Rank, "an index for each axis of the array");
    ptrdiff_t i = 0;
    for (int axis = 0; axis < Rank; ++axis) i = i * extents[axis] + indices[axis];
    return i;
  }
};
template <class... Extents>
HD_SCALAR ArrayShape<sizeof...(Extents)> array_shape(int element, Extents... extents) {
  constexpr int rank = sizeof...(Extents);
  ArrayShape<rank> made{{static_cast<ptrdiff_t>(extents)...}, {}};
  ptrdiff_t stride = element;
  for (int axis = rank; axis-- > 0;) {
    made.byte_strides[axis] = stride;
    stride *= made.extents[axis];
  }
  return made;
}
}  // namespace heddle_user

//! section user_arrays needs user_shapes
namespace heddle_user {
template <class T, class Stored, int Rank>
struct RawArray : ArrayShape<Rank> {
  const Stored* elements;
  HD_SCALAR RawArray(ArrayShape<Rank> shape, const Stored* p)
      : ArrayShape<Rank>(shape), elements(p) {}
  HD_SCALAR T operator[](ptrdiff_t i) const { return raw_element<T>(elements, i); }
  template <int Count>
  HD_SCALAR T operator[](const ptrdiff_t (&indices)[Count]) const {
    return raw_element<T>(elements, this->number(indices));
  }
};
template <class T, class Stored, class... Extents>
HD_SCALAR RawArray<T, Stored, sizeof...(Extents)> raw_array(const Stored* p, Extents... extents) {
  return {array_shape(sizeof(Stored), extents...), p};
}
}  // namespace heddle_user

//! section user_targets needs user_shapes
namespace heddle_user {
template <class T, class Stored, int Rank>
struct RawTarget : ArrayShape<Rank> {
  Stored* elements;
  using Reference = typename InMemory<T, Stored>::Reference;
  HD_SCALAR RawTarget(ArrayShape<Rank> shape, Stored* p) : ArrayShape<Rank>(shape), elements(p) {}
  HD_SCALAR Reference operator[](ptrdiff_t i) const {
    return InMemory<T, Stored>::of(raw_reference(elements, i));
  }
  template <int Count>
  HD_SCALAR Reference operator[](const ptrdiff_t (&indices)[Count]) const {
    return InMemory<T, Stored>::of(raw_reference(elements, this->number(indices)));
  }
};
template <class T, class Stored, class... Extents>
HD_SCALAR RawTarget<T, Stored, sizeof...(Extents)> raw_target(Stored* p, Extents... extents) {
  return {array_shape(sizeof(Stored), extents...), p};
}
}  // namespace heddle_user
