#include "passes/program/step.h"

#include <fmt/format.h>

#include "heddle/error.h"

#include "passes/program/program.h"

namespace heddle::passes {

void CallValues::set(std::string_view name, CallValue value) {
  values_.insert_or_assign(std::string(name), std::move(value));
}

template <class T>
const T& CallValues::get(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end())
    throw InternalError(fmt::format("a call lacks the value '{}', which its handler reads", name));
  if (const T* const value = std::get_if<T>(&found->second)) return *value;
  throw InternalError(
      fmt::format("the value '{}' of a call does not have the type that its handler reads", name));
}

template const bool& CallValues::get(std::string_view) const;
template const Dim& CallValues::get(std::string_view) const;
template const DType& CallValues::get(std::string_view) const;
template const std::string& CallValues::get(std::string_view) const;
template const Factor& CallValues::get(std::string_view) const;

std::vector<const Step*> steps_of_bodies(const CallStep& call) {
  std::vector<const Step*> steps;
  for (const auto& body : call.bodies) {
    for (const Step& step : body->steps) steps.push_back(&step);
  }
  return steps;
}

std::vector<BufferUse> uses_of(const Step& step) {
  std::vector<BufferUse> uses;
  for_each_buffer(
      step, [&](const BufferRef& buffer, bool written) { uses.push_back({buffer, written}); });
  return uses;
}

}  // namespace heddle::passes
