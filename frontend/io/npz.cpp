#include "frontend/io/npz.h"

#include <fmt/format.h>

#include "heddle/io.h"

#include "frontend/graph/record.h"
#include "frontend/graph/trace.h"
#include "frontend/io/atomic_file.h"
#include "frontend/io/input_file.h"
#include "frontend/io/npy.h"

#ifdef HEDDLE_WITH_LIBZIP
#include <array>
#include <cstring>
#include <istream>
#include <memory>
#include <streambuf>

#include "frontend/io/libzip.h"
#endif

namespace heddle {
namespace {

[[noreturn]] void fail(std::string_view op, const std::string& path, std::string_view why,
                       const SourceLocation& where) {
  throw FileError(frontend::at(fmt::format("{}: {} {}", op, path, why), where));
}

#ifdef HEDDLE_WITH_LIBZIP

using frontend::libzip;

std::string text_of(zip_error_t* error) {
  std::string text = libzip().zip_error_strerror(error);
  libzip().zip_error_fini(error);
  return text;
}

/// An archive that is not closed stays as it was on disk.
struct Discard {
  void operator()(zip_t* archive) const { libzip().zip_discard(archive); }
  void operator()(zip_file_t* file) const { libzip().zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, Discard>;

Archive open_archive(std::string_view op, const std::string& path, int flags,
                     const SourceLocation& where) {
  if (const std::string& reason = frontend::libzip_unavailable_reason(); !reason.empty())
    fail(op, path, "is a .npz file, for which libzip is needed: " + reason, where);
  int code = 0;
  Archive archive(libzip().zip_open(path.c_str(), flags, &code));
  if (archive != nullptr) return archive;
  zip_error_t error;
  libzip().zip_error_init_with_code(&error, code);
  fail(op, path, "cannot be opened as a zip archive: " + text_of(&error), where);
}

/// Stream buffer of one file of an archive; inflates as needed.
class EntryBuffer final : public std::streambuf {
 public:
  EntryBuffer(zip_t* archive, zip_uint64_t entry, const std::string& path,
              const SourceLocation& where)
      : file_(libzip().zip_fopen_index(archive, entry, 0)), path_(path), where_(where) {
    if (file_ == nullptr)
      fail("load_npz", path, "cannot be read: " + std::string(libzip().zip_strerror(archive)),
           where);
  }

  /// Throws FileError if the archive is damaged, which a stream reports only as its end.
  void check() const {
    if (!error_.empty()) fail("load_npz", path_, "cannot be read: " + error_, where_);
  }
  /// Reads the rest, at most a little, so that the checksum is verified.
  void finish() {
    for (int i = 0; i < 16 && underflow() != traits_type::eof(); ++i) continue;
    check();
  }

 protected:
  int_type underflow() override {
    const zip_int64_t read = libzip().zip_fread(file_.get(), part_.data(), part_.size());
    if (read < 0) error_ = libzip().zip_file_strerror(file_.get());
    if (read <= 0) return traits_type::eof();
    setg(part_.data(), part_.data(), part_.data() + read);
    return traits_type::to_int_type(part_[0]);
  }

 private:
  std::unique_ptr<zip_file_t, Discard> file_;
  const std::string& path_;
  SourceLocation where_;
  std::string error_;
  std::array<char, 1 << 16> part_{};
};

Array read_entry(zip_t* archive, zip_uint64_t entry, const std::string& name,
                 const std::string& path, const SourceLocation& where) {
  EntryBuffer buffer(archive, entry, path, where);
  std::istream stream(&buffer);
  try {
    Array array = frontend::read_npy(stream, path + '/' + name, where);
    buffer.finish();
    return array;
  } catch (const FileError&) {
    buffer.check();
    throw;
  }
}

void add_entry(zip_t* archive, const std::string& name, const frontend::Npy& npy, bool deflated,
               const std::string& path, const SourceLocation& where) {
  // Freed by libzip after it is written.
  const std::size_t size = npy.header.size() + npy.data.size();
  auto* bytes = static_cast<char*>(std::malloc(size));
  if (bytes == nullptr) throw std::bad_alloc();
  std::memcpy(bytes, npy.header.data(), npy.header.size());
  if (!npy.data.empty()) std::memcpy(bytes + npy.header.size(), npy.data.data(), npy.data.size());
  zip_source_t* source = libzip().zip_source_buffer(archive, bytes, size, 1);
  if (source == nullptr) std::free(bytes);
  const zip_int64_t entry =
      source == nullptr
          ? -1
          : libzip().zip_file_add(archive, (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
  if (entry < 0 && source != nullptr) libzip().zip_source_free(source);
  const auto place = static_cast<zip_uint64_t>(entry);
  // As in NumPy, no time is written (only the first of 1980), so that equal arrays give equal
  // files.
  const bool added = entry >= 0 &&
                     libzip().zip_set_file_compression(
                         archive, place, deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0) == 0 &&
                     libzip().zip_file_set_dostime(archive, place, 0, (1 << 5) | 1, 0) == 0;
  if (!added)
    fail("savez", path, "cannot take " + name + ": " + libzip().zip_strerror(archive), where);
}

void write_archive(const std::string& path, const NamedArrays& arrays, bool deflated,
                   const SourceLocation& where) {
  if (frontend::Trace::current() != nullptr) frontend::value_in_trace("savez", where);
  if (arrays.empty()) throw ValueError(frontend::at("savez: there are no arrays to save", where));
  std::vector<Array> all;
  for (const auto& [name, array] : arrays) all.push_back(array);
  eval(all);
  Archive archive = open_archive("savez", path, ZIP_CREATE | ZIP_TRUNCATE, where);
  for (const auto& [name, array] : arrays) {
    add_entry(archive.get(), name, frontend::npy_of(array, where), deflated, path, where);
  }
  // Written to a temporary file, which is renamed when it is complete.
  if (libzip().zip_close(archive.get()) != 0)
    fail("savez", path, std::string("cannot be written: ") + libzip().zip_strerror(archive.get()),
         where);
  static_cast<void>(archive.release());
  frontend::sync_to_disk(path);
}

#else

[[noreturn]] void lacks_libzip(std::string_view op, const std::string& path,
                               const SourceLocation& where) {
  fail(
      op, path,
      "is a .npz file, for which libzip is needed: Heddle was built without its header. Install "
      "libzip's headers (Debian's libzip-dev) and build Heddle again. Arrays one by one go to .npy "
      "files",
      where);
}

void write_archive(const std::string& path, const NamedArrays&, bool, const SourceLocation& where) {
  lacks_libzip("savez", path, where);
}

#endif

}  // namespace

std::string frontend::npz_unavailable_reason() {
#ifdef HEDDLE_WITH_LIBZIP
  return libzip_unavailable_reason();
#else
  return "Heddle was built without it. Install libzip-dev (its headers) and build Heddle again";
#endif
}

NamedArrays load_npz(const std::string& path, SourceLocation where) {
#ifdef HEDDLE_WITH_LIBZIP
  static_cast<void>(frontend::open_input("load_npz", path, where));
  const Archive archive = open_archive("load_npz", path, ZIP_RDONLY, where);
  NamedArrays arrays;
  const zip_int64_t count = libzip().zip_get_num_entries(archive.get(), 0);
  for (zip_uint64_t entry = 0; entry < static_cast<zip_uint64_t>(count); ++entry) {
    const char* const given = libzip().zip_get_name(archive.get(), entry, ZIP_FL_ENC_GUESS);
    if (given == nullptr) fail("load_npz", path, "has a file without a name", where);
    std::string name = given;
    const Array array = read_entry(archive.get(), entry, name, path, where);
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    arrays.insert_or_assign(std::move(name), array);
  }
  return arrays;
#else
  lacks_libzip("load_npz", path, where);
#endif
}

void savez(const std::string& path, const NamedArrays& arrays, SourceLocation where) {
  write_archive(frontend::with_suffix(path, ".npz"), arrays, false, where);
}

void savez_compressed(const std::string& path, const NamedArrays& arrays, SourceLocation where) {
  write_archive(frontend::with_suffix(path, ".npz"), arrays, true, where);
}

}  // namespace heddle
