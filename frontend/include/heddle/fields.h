#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/array.h"

// How jit finds the arrays inside its arguments and results.

#define HEDDLE_PARENS ()
#define HEDDLE_EXPAND(...) HEDDLE_EXPAND3(HEDDLE_EXPAND3(HEDDLE_EXPAND3(__VA_ARGS__)))
#define HEDDLE_EXPAND3(...) HEDDLE_EXPAND2(HEDDLE_EXPAND2(HEDDLE_EXPAND2(__VA_ARGS__)))
#define HEDDLE_EXPAND2(...) HEDDLE_EXPAND1(HEDDLE_EXPAND1(HEDDLE_EXPAND1(__VA_ARGS__)))
#define HEDDLE_EXPAND1(...) __VA_ARGS__
#define HEDDLE_FIELDS_AGAIN() HEDDLE_FIELDS_STEP
#define HEDDLE_FIELDS_STEP(field, ...) \
  heddle_value.field __VA_OPT__(, HEDDLE_FIELDS_AGAIN HEDDLE_PARENS(__VA_ARGS__))

/// Lets a struct be an argument or result of a jitted function: HEDDLE_STRUCT(State, position,
/// velocity), after the struct and in its namespace. The fields are arrays, structs of arrays,
/// containers of arrays, or plain values. Plain values are static: they are part of the signature.
#define HEDDLE_STRUCT(Type, ...)                                         \
  [[maybe_unused]] inline auto heddle_fields(Type& heddle_value) {       \
    return std::tie(HEDDLE_EXPAND(HEDDLE_FIELDS_STEP(__VA_ARGS__)));     \
  }                                                                      \
  [[maybe_unused]] inline auto heddle_fields(const Type& heddle_value) { \
    return std::tie(HEDDLE_EXPAND(HEDDLE_FIELDS_STEP(__VA_ARGS__)));     \
  }

namespace heddle::frontend {

template <class T>
concept HasFields = requires(T& value) { heddle_fields(value); };

template <class T>
concept TupleLike = requires { std::tuple_size<T>::value; };

template <class T>
concept Text = std::is_convertible_v<const T&, std::string_view>;

template <class T>
concept Container = !Text<T> && requires(T& value) {
  value.begin() != value.end();
  value.size();
};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
inline constexpr bool unsupported = false;

/// Calls visitor.array(Array) for each array inside `value`, and visitor.plain(bytes) for
/// everything else that determines the structure: plain values and lengths.
template <class T, class Visitor>
void visit_fields(T& value, Visitor& visitor) {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Plain, Array>) {
    visitor.array(value);
  } else if constexpr (HasFields<T>) {
    std::apply([&](auto&... fields) { (visit_fields(fields, visitor), ...); },
               heddle_fields(value));
  } else if constexpr (IsOptional<Plain>::value) {
    visitor.plain(value.has_value() ? "\1" : "\0", 1);
    if (value.has_value()) visit_fields(*value, visitor);
  } else if constexpr (TupleLike<Plain>) {
    std::apply([&](auto&... fields) { (visit_fields(fields, visitor), ...); }, value);
  } else if constexpr (std::is_same_v<Plain, long double>) {
    const auto narrow = static_cast<double>(value);  // long double has padding bytes
    visitor.plain(&narrow, sizeof(narrow));
  } else if constexpr (IsNumber<Plain> || std::is_enum_v<Plain>) {
    visitor.plain(&value, sizeof(value));
  } else if constexpr (std::is_same_v<Plain, std::nullopt_t> || std::is_empty_v<Plain>) {
    visitor.plain(nullptr, 0);
  } else if constexpr (Text<Plain>) {
    const std::string_view text(value);
    const std::size_t length = text.size();
    visitor.plain(&length, sizeof(length));
    visitor.plain(text.data(), length);
  } else if constexpr (Container<T>) {
    const std::size_t length = value.size();
    visitor.plain(&length, sizeof(length));
    for (auto&& element : value) {
      if constexpr (TupleLike<std::remove_cvref_t<decltype(element)>>) {
        std::apply([&](auto&... fields) { (visit_fields(fields, visitor), ...); }, element);
      } else if constexpr (std::is_lvalue_reference_v<decltype(element)>) {
        visit_fields(element, visitor);
      } else {  // std::vector<bool>
        const bool flag = element;
        visitor.plain(&flag, sizeof(flag));
      }
    }
  } else {
    static_assert(unsupported<T>,
                  "jit: declare the arrays of this type with HEDDLE_STRUCT(Type, fields...)");
  }
}

/// True if the type can hold arrays, even if it holds none at run time.
template <class T>
struct HoldsArrays : std::bool_constant<std::is_same_v<T, Array> || HasFields<T>> {};
template <class... T>
struct HoldsArrays<std::tuple<T...>> : std::bool_constant<(HoldsArrays<T>::value || ...)> {};
template <class A, class B>
struct HoldsArrays<std::pair<A, B>>
    : std::bool_constant<HoldsArrays<A>::value || HoldsArrays<B>::value> {};
template <class T, std::size_t N>
struct HoldsArrays<std::array<T, N>> : HoldsArrays<T> {};
template <class T, class A>
struct HoldsArrays<std::vector<T, A>> : HoldsArrays<T> {};
template <class T>
struct HoldsArrays<std::optional<T>> : HoldsArrays<T> {};
template <class K, class T, class C, class A>
struct HoldsArrays<std::map<K, T, C, A>> : HoldsArrays<T> {};

}  // namespace heddle::frontend
