#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace heddle::ir {

/// A std::vector of trivially copyable elements that holds up to N of them in itself, so that short
/// ones need no memory of their own. Unlike a vector's, its iterators are invalid once it is moved.
template <class T, std::size_t N>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  InlineVector() noexcept {}
  explicit InlineVector(size_type count, T value = T()) { assign(count, value); }
  template <std::input_iterator It>
  InlineVector(It first, It last) {
    assign(first, last);
  }
  InlineVector(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  InlineVector(const InlineVector& other) { copy(other.data(), other.size()); }
  InlineVector(InlineVector&& other) noexcept { take(other); }
  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) {
      clear();
      copy(other.data(), other.size());
    }
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  InlineVector& operator=(std::initializer_list<T> values) {
    assign(values.begin(), values.end());
    return *this;
  }
  ~InlineVector() { release(); }

  T* data() noexcept { return capacity_ > N ? memory_.heap : inline_elements(); }
  const T* data() const noexcept { return capacity_ > N ? memory_.heap : inline_elements(); }
  size_type size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  size_type capacity() const noexcept { return capacity_; }

  iterator begin() noexcept { return data(); }
  iterator end() noexcept { return data() + size_; }
  const_iterator begin() const noexcept { return data(); }
  const_iterator end() const noexcept { return data() + size_; }
  const_iterator cbegin() const noexcept { return begin(); }
  const_iterator cend() const noexcept { return end(); }
  reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
  reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
  const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }

  T& operator[](size_type i) { return data()[i]; }
  const T& operator[](size_type i) const { return data()[i]; }
  T& at(size_type i) { return data()[checked(i)]; }
  const T& at(size_type i) const { return data()[checked(i)]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void reserve(size_type count) {
    if (count > capacity_) grow(count);
  }
  void clear() noexcept { size_ = 0; }
  void resize(size_type count, T value = T()) {
    reserve(count);
    if (count > size_) std::uninitialized_fill(data() + size_, data() + count, value);
    size_ = static_cast<Count>(count);
  }
  void assign(size_type count, T value) {
    clear();
    resize(count, value);
  }
  template <std::input_iterator It>
  void assign(It first, It last) {
    clear();
    if constexpr (std::forward_iterator<It>)
      reserve(static_cast<size_type>(std::distance(first, last)));
    for (; first != last; ++first) push_back(static_cast<T>(*first));
  }

  void push_back(T value) {
    if (size_ == capacity_) grow(size_type{size_} + 1);
    std::construct_at(data() + size_, value);
    ++size_;
  }
  template <class... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    push_back(T(std::forward<Arguments>(arguments)...));
    return back();
  }
  void pop_back() { --size_; }

  iterator insert(const_iterator position, T value) { return insert(position, &value, &value + 1); }
  iterator insert(const_iterator position, size_type count, T value) {
    T* const gap = make_gap(position, count);
    std::uninitialized_fill_n(gap, count, value);
    return gap;
  }
  /// The elements inserted are not those of this vector.
  template <std::forward_iterator It>
  iterator insert(const_iterator position, It first, It last) {
    T* const gap = make_gap(position, static_cast<size_type>(std::distance(first, last)));
    std::uninitialized_copy(first, last, gap);
    return gap;
  }
  iterator insert(const_iterator position, std::initializer_list<T> values) {
    return insert(position, values.begin(), values.end());
  }
  iterator erase(const_iterator position) { return erase(position, position + 1); }
  iterator erase(const_iterator first, const_iterator last) {
    T* const to = begin() + (first - begin());
    std::copy(last, cend(), to);
    size_ -= static_cast<Count>(last - first);
    return to;
  }

  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  using Count = std::uint32_t;

  T* inline_elements() noexcept { return reinterpret_cast<T*>(memory_.elements); }
  const T* inline_elements() const noexcept { return reinterpret_cast<const T*>(memory_.elements); }
  size_type checked(size_type i) const {
    if (i >= size_) throw std::out_of_range("InlineVector::at");
    return i;
  }

  void grow(size_type least) {
    const size_type wanted = std::max<size_type>(least, 2 * size_type{capacity_});
    T* const larger = std::allocator<T>().allocate(wanted);
    std::uninitialized_copy_n(data(), size_, larger);
    release();
    memory_.heap = larger;
    capacity_ = static_cast<Count>(wanted);
  }
  void release() noexcept {
    if (capacity_ > N) std::allocator<T>().deallocate(memory_.heap, capacity_);
    capacity_ = N;
  }
  /// Into this vector, which is empty.
  void copy(const T* from, size_type count) {
    reserve(count);
    std::uninitialized_copy_n(from, count, data());
    size_ = static_cast<Count>(count);
  }
  /// Into this vector, which has no memory of its own.
  void take(InlineVector& other) noexcept {
    size_ = std::exchange(other.size_, 0);
    if (other.capacity_ > N) {
      memory_.heap = other.memory_.heap;
      capacity_ = std::exchange(other.capacity_, static_cast<Count>(N));
    } else {
      std::uninitialized_copy_n(other.inline_elements(), size_, inline_elements());
    }
  }
  T* make_gap(const_iterator position, size_type count) {
    const auto offset = position - begin();
    const size_type behind = size_ - static_cast<size_type>(offset);
    reserve(size_ + count);
    T* const gap = begin() + offset;
    std::memmove(static_cast<void*>(gap + count), gap, behind * sizeof(T));
    size_ += static_cast<Count>(count);
    return gap;
  }

  union Memory {
    Memory() noexcept {}
    alignas(T) std::byte elements[N * sizeof(T)];
    T* heap;
  };
  Count size_ = 0, capacity_ = N;
  Memory memory_;
};

/// Removes the elements that satisfy the predicate; returns their number.
template <class T, std::size_t N, class Predicate>
std::size_t erase_if(InlineVector<T, N>& vector, Predicate predicate) {
  const auto kept = std::remove_if(vector.begin(), vector.end(), predicate);
  const auto removed = static_cast<std::size_t>(vector.end() - kept);
  vector.erase(kept, vector.end());
  return removed;
}

}  // namespace heddle::ir
