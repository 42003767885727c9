#pragma once

#include <nanobind/nanobind.h>

namespace heddle::python {

/// A named tuple type for functions with several results. Lives as long as the process.
class NamedTuple {
 public:
  NamedTuple(const char* name, const char* fields)
      : type_(nanobind::module_::import_("collections")
                  .attr("namedtuple")(name, fields, nanobind::arg("module") = "heddle")
                  .release()) {}

  template <class... Objects>
  nanobind::object operator()(const Objects&... values) const {
    return type_(values...);
  }

 private:
  nanobind::handle type_;
};

}  // namespace heddle::python
