#include "ir/types/call.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/error.h"

namespace heddle::ir {

namespace {

void hash_value(Hasher& hasher, const AttributeValue& value) {
  hasher.number(value.index());
  std::visit(
      [&]<class T>(const T& one) {
        if constexpr (std::is_same_v<T, std::string>) {
          hasher.bytes(one);
        } else if constexpr (std::is_same_v<T, double>) {
          hasher.number(std::bit_cast<std::uint64_t>(one));
        } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
          hash_into(hasher, one);
        } else if constexpr (std::is_same_v<T, Dims>) {
          hash_into(hasher, one);
        } else {
          hasher.number(static_cast<std::uint64_t>(one));
        }
      },
      value);
}

void hash_call(Hasher& hasher, const CallData& call) {
  hasher.bytes(call.op->name);
  for (const AttributeValue& value : call.attributes) hash_value(hasher, value);
  for (const Region& region : call.regions) hasher.hash(region.hash);
}

}  // namespace

CallRef::CallRef(CallData data) {
  Hasher hasher;
  hash_call(hasher, data);
  shared_ = std::make_shared<const Shared>(Shared{std::move(data), hasher.finish()});
}

std::size_t CallData::position_of(std::string_view name) const {
  const auto found = std::ranges::find(op->attributes, name, &CallAttribute::name);
  if (found == op->attributes.end())
    throw InternalError(fmt::format("{} has no attribute {}", op->name, name));
  return static_cast<std::size_t>(found - op->attributes.begin());
}

CallRef make_call(const CallOp& op, std::span<const NamedAttribute> attributes,
                  std::vector<Region> regions) {
  CallData data{&op, {}, std::move(regions)};
  for (const CallAttribute& one : op.attributes) data.attributes.push_back(one.initial);
  for (const auto& [name, value] : attributes) {
    const std::size_t position = data.position_of(name);
    const CallAttribute& known = op.attributes[position];
    if (value.index() != known.initial.index())
      throw InternalError(fmt::format("{}: attribute {} has a different type", op.name, name));
    const auto* const text = std::get_if<std::string>(&value);
    if (text != nullptr && !known.choices.empty() &&
        std::ranges::find(known.choices, *text) == known.choices.end()) {
      throw ValueError(fmt::format("{}: unknown {} '{}'; it is one of {}", op.name, name, *text,
                                   fmt::join(known.choices, ", ")));
    }
    data.attributes[position] = value;
  }
  return CallRef(std::move(data));
}

}  // namespace heddle::ir
