#include <iterator>

#include <fmt/format.h>

#include "codegen/common/body.h"
#include "ir/base/formatting.h"
#include "passes/plan/analyze.h"

namespace heddle::codegen {

std::vector<std::vector<std::string>> Body::item_tables(const char* storage) {
  std::vector<std::vector<std::string>> names;
  int count = 0;
  for (const passes::ItemPhase& phase : plan_.items->phases) {
    if (!phase.routine) continue;
    std::vector<std::string>& own = names.emplace_back();
    for (const passes::ItemTable& table : phase.routine->tables) {
      own.push_back(fmt::format("table{}", count++));
      const bool narrow = table.dtype == DType::f32;
      std::string text = fmt::format("{} {} {}[] = {{", storage, type(table.dtype), own.back());
      for (const double number : *table.numbers) {
        if (narrow) {
          fmt::format_to(std::back_inserter(text), "{:.9g},", static_cast<float>(number));
        } else {
          fmt::format_to(std::back_inserter(text), "{:.17g},", number);
        }
      }
      writer_.line("{}}};", text);
    }
  }
  return names;
}

std::int64_t Body::constant_iterations(const std::vector<passes::Loop>& loops) {
  return passes::iterations(loops).constant();
}

std::vector<int> Body::needed_for(const passes::ItemPhase& phase) const {
  std::vector<int> roots;
  for (const int store : phase.stores) {
    for (const int need : passes::needs_of(plan_.stores[store])) roots.push_back(need);
  }
  return needed_for(roots, false);
}

}  // namespace heddle::codegen
