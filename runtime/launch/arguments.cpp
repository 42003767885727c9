#include "runtime/launch/arguments.h"

namespace heddle::runtime {

ArgumentView view_of(const Argument& argument) {
  ArgumentView view{std::get_if<DeviceArray>(&argument)};
  if (view.array == nullptr) view.scalar = std::get<ScalarArgument>(argument);
  return view;
}

std::vector<ArgumentView> views_of(std::span<const Argument> arguments) {
  std::vector<ArgumentView> views;
  for (const Argument& argument : arguments) views.push_back(view_of(argument));
  return views;
}

}  // namespace heddle::runtime
