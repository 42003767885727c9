#pragma once

#include <cstddef>
#include <string>

#include <nanobind/nanobind.h>

namespace heddle::python {

namespace nb = nanobind;

/// True for containers: list, tuple (named ones too), dict, dataclass.
bool is_container(nb::handle value);

/// The children of a container in a fixed order, and the rest of its structure. `rebuild` makes a
/// container of the same structure with other children.
class Container {
 public:
  explicit Container(nb::handle value);
  /// Type, length and keys as text; equal structures have equal text.
  std::string structure() const;
  const nb::list& children() const { return children_; }
  /// How a child is reached: "[0]", "['w']" or ".field".
  std::string accessor(std::size_t child) const;
  nb::object rebuild(const nb::list& children) const;

 private:
  nb::handle value_;
  nb::list children_;
  nb::list keys_;  ///< keys of a dict, or fields of a dataclass
};

/// The tree with each leaf replaced by leaf(value), in order.
template <class Leaf>
nb::object map_tree(nb::handle tree, Leaf& leaf) {
  if (!is_container(tree)) return leaf(tree);
  const Container container(tree);
  nb::list mapped;
  for (nb::handle child : container.children()) mapped.append(map_tree(child, leaf));
  return container.rebuild(mapped);
}

/// Calls leaf(value) for each leaf, in the same order. Calls sequence(type, length) for tuples and
/// lists, and note(text) with the structure of other containers.
template <class Leaf, class Sequence, class Note>
void visit_tree(nb::handle tree, Leaf& leaf, Sequence& sequence, Note& note) {
  if (!is_container(tree)) return leaf(tree);
  PyObject* const object = tree.ptr();
  if (PyTuple_CheckExact(object) || PyList_CheckExact(object)) {
    sequence(Py_TYPE(object), PySequence_Fast_GET_SIZE(object));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i)
      visit_tree(nb::borrow(PySequence_Fast_GET_ITEM(object, i)), leaf, sequence, note);
    return;
  }
  const Container container(tree);
  note(container.structure());
  for (nb::handle child : container.children()) visit_tree(child, leaf, sequence, note);
}

/// Calls leaf(value, name) for each leaf, in the same order. The name of a leaf is the expression
/// that reaches it: "params['w'][0]" where `name` is "params".
template <class Leaf>
void name_leaves(nb::handle tree, const std::string& name, Leaf& leaf) {
  if (!is_container(tree)) return leaf(tree, name);
  const Container container(tree);
  std::size_t i = 0;
  for (nb::handle child : container.children()) {
    name_leaves(child, name + container.accessor(i), leaf);
    ++i;
  }
}

}  // namespace heddle::python
