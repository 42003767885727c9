#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

namespace heddle::frontend {

/// Appends values to a key whose length is reserved in advance. Do not write more than that.
class KeyWriter {
 public:
  KeyWriter(std::string& key, std::size_t bytes) {
    const std::size_t before = key.size();
    key.resize(before + bytes);
    at_ = key.data() + before;
  }
  template <class T>
    requires std::has_unique_object_representations_v<T>  // padding would make equal keys differ
  void add(const T& value) {
    std::memcpy(at_, &value, sizeof(value));
    at_ += sizeof(value);
  }

 private:
  char* at_;
};

}  // namespace heddle::frontend
