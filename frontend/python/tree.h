#pragma once

#include <cstddef>

#include <nanobind/nanobind.h>

namespace heddle::python {

namespace nb = nanobind;

/// Whether values of this type hold others: list, tuple (named ones too), dict, dataclass.
bool is_container(nb::handle value);

/// Calls visit(child) for each value that a container holds, in a fixed order, and describe(text)
/// with what else decides its structure. `rebuild` makes one like it of other children.
class Container {
 public:
  explicit Container(nb::handle value);
  /// Type, length and keys, as text that equal structures share.
  std::string structure() const;
  const nb::list& children() const { return children_; }
  nb::object rebuild(const nb::list& children) const;

 private:
  nb::handle value_;
  nb::list children_;
  nb::list keys_;  ///< of a dict, or a dataclass's fields
};

/// The tree with each leaf replaced by what leaf(value) returns, in order. note(text) gets the
/// structure of the containers on the way.
template <class Leaf, class Note>
nb::object map_tree(nb::handle tree, Leaf& leaf, Note& note) {
  if (!is_container(tree)) return leaf(tree);
  const Container container(tree);
  note(container.structure());
  nb::list mapped;
  for (nb::handle child : container.children()) mapped.append(map_tree(child, leaf, note));
  return container.rebuild(mapped);
}

}  // namespace heddle::python
