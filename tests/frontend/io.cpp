#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/runtime/helpers.h"
#include "values.h"

using hd::test::check;
using hd::test::contains;
using hd::test::message_of;

namespace {

/// A folder that goes with the test.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("heddle_io_" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
};

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string npy(const std::string& header, const std::string& data, char version = 1) {
  std::string result("\x93NUMPY");
  result += version;
  result += '\0';
  result += static_cast<char>(header.size() & 0xff);
  result += static_cast<char>(header.size() >> 8);
  if (version > 1) result += std::string(2, '\0');
  return result + header + data;
}

}  // namespace

TEST_CASE("arrays print as in NumPy") {
  const auto text = [](const hd::Array& x) { return hd::to_string(x); };
  CHECK(text(hd::array({1.0, 2.5, -3.0})) == "[ 1.   2.5 -3. ]");
  CHECK(text(hd::array({{1, -20}, {300, 4}})) == "[[  1 -20]\n [300   4]]");
  CHECK(text(hd::array({1e-10f, 0.1f})) == "[1.e-10 1.e-01]");
  CHECK(text(hd::array<double>({1.0, INFINITY, NAN})) == "[ 1. inf nan]");
  CHECK(text(hd::array(std::vector<bool>{true, false})) == "[ True False]");
  CHECK(text(hd::array(1.0f / 3)) == "0.33333334");
  CHECK(text(hd::array({123456789.0f})) == "[1.2345679e+08]");
  CHECK(text(hd::array({33554433.0f * 3})) == "[1.006633e+08]");
  CHECK(text(hd::array({1.2e22})) == "[1.2e+22]");
  CHECK(text(hd::array(true)) == "True");
  CHECK(text(hd::arange(2000)) == "[   0    1    2 ... 1997 1998 1999]");
  CHECK(text(hd::zeros({0, 3})) == "[]");
  CHECK(text(hd::zeros({1, 2, 1})) == "[[[0.]\n  [0.]]]");
  CHECK(text(hd::arange(30)) ==
        "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
        " 24 25 26 27 28 29]");
  CHECK(hd::repr(hd::array({1.0f, 2.0f})) == "array([1., 2.], dtype=float32)");
  CHECK(hd::repr(hd::arange(2)) == "array([0, 1])");
  std::ostringstream stream;
  stream << hd::array({1, 2});
  CHECK(stream.str() == "[1 2]");
}

TEST_CASE("print options apply") {
  const hd::PrintOptions before = hd::print_options();
  hd::PrintOptions options;
  options.precision = 2;
  options.threshold = 4;
  options.edgeitems = 1;
  hd::set_print_options(options);
  CHECK(hd::to_string(hd::array({0.123, 1.0, 2.0, 3.0, 4.0})) == "[0.12 ... 4.  ]");
  hd::set_print_options(before);
  CHECK(hd::to_string(hd::array({0.123})) == "[0.123]");
}

TEST_CASE("npy files read back in every dtype") {
  const Folder folder;
  const std::string path = folder.file("x.npy");
  for (hd::DType dtype :
       {hd::bool_, hd::int8, hd::int16, hd::int32, hd::int64, hd::uint8, hd::uint16, hd::uint32,
        hd::uint64, hd::float16, hd::bfloat16, hd::float32, hd::float64}) {
    const hd::Array x = hd::arange(6).reshape({2, 3}).astype(dtype);
    hd::save(path, x);
    const hd::Array y = hd::load(path);
    CHECK(y.dtype() == dtype);
    CHECK(y.shape() == hd::Shape{2, 3});
    CHECK(y.to_vector<double>() == x.to_vector<double>());
  }
  hd::save(path, hd::array(2.5));
  check<double>(hd::load(path), {}, {2.5});
  hd::save(folder.file("x"), hd::zeros<float>({0, 2}));  // .npy is appended
  check<float>(hd::load(path), {0, 2}, {});
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("npy files of other orders and versions read") {
  const Folder folder;
  const std::string path = folder.file("x.npy");
  write(path, npy("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }\n",
                  std::string("\x01\x02\x00\x03", 4)));
  check<std::int16_t>(hd::load(path), {2}, {258, 3});
  write(path, npy("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }\n",
                  std::string("\0\3\1\4\2\5", 6), 2));
  check<std::int8_t>(hd::load(path), {2, 3}, {0, 1, 2, 3, 4, 5});
}

TEST_CASE("files that are not arrays throw FileError with the path") {
  const Folder folder;
  const std::string path = folder.file("x.npy");
  const auto message = [&] { return message_of<hd::FileError>([&] { hd::load(path); }); };
  CHECK(contains(message(), path));
  write(path, "text");
  CHECK(contains(message(), "too early"));
  write(path, "some text");
  CHECK(contains(message(), "not a .npy file"));
  write(path, npy("{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }\n", "abcd"));
  CHECK(contains(message(), "holds 4 bytes of data, but its shape needs 20"));
  write(path, npy("{'descr': '<U8', 'fortran_order': False, 'shape': (5,), }\n", ""));
  CHECK(contains(message(), "<U8"));
  write(
      path,
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }\n", ""));
  CHECK(contains(message(), "64 bits"));
  write(path, npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }\n", ""));
  CHECK(contains(message(), "structured"));
  write(path, npy("{}\n", ""));
  CHECK(contains(message(), "descr"));
  CHECK_THROWS_AS(hd::save(folder.file("none/x.npy"), hd::zeros({1})), hd::FileError);
}

TEST_CASE("archives of arrays are read as they were written") {
  const Folder folder;
  const std::string path = folder.file("x.npz");
  const hd::NamedArrays arrays = {{"a", hd::arange<float>(5)},
                                  {"b/c", hd::array<std::int64_t>(7)},
                                  {"none", hd::zeros<std::uint8_t>({0, 2})},
                                  {"zeros", hd::zeros<double>({200, 50})}};
  try {
    hd::savez(path, arrays);
  } catch (const hd::FileError& error) {
    REQUIRE(contains(error.what(), "libzip is needed"));
    CHECK_THROWS_AS(hd::load_npz(path), hd::FileError);
    return;
  }
  const auto stored = std::filesystem::file_size(path);
  CHECK(stored > 80'000);
  for (const bool deflated : {false, true}) {
    if (deflated) hd::savez_compressed(folder.file("x"), arrays);  // .npz is appended
    const hd::NamedArrays read = hd::load_npz(path);
    REQUIRE(read.size() == arrays.size());
    for (const auto& [name, array] : arrays) {
      CAPTURE(name);
      CHECK(read.at(name).dtype() == array.dtype());
      CHECK(read.at(name).shape() == array.shape());
      CHECK(read.at(name).to_vector<double>() == array.to_vector<double>());
    }
  }
  CHECK(std::filesystem::file_size(path) < stored / 10);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);

  CHECK_THROWS_AS(hd::savez(path, {}), hd::ValueError);
  CHECK_THROWS_AS(hd::savez(folder.file("none/x.npz"), arrays), hd::FileError);
  CHECK(hd::load_npz(path).size() == 4);
}

TEST_CASE("archives that are damaged, or not of arrays, throw FileError with the path") {
  const Folder folder;
  const std::string path = folder.file("x.npz");
  const auto message = [&] { return message_of<hd::FileError>([&] { hd::load_npz(path); }); };
  CHECK(contains(message(), path));
  write(path, "no archive");
  CHECK(contains(message(), path));
  try {
    hd::savez(path, {{"a", hd::zeros<double>({1000})}});
  } catch (const hd::FileError&) {
    return;  // no libzip here
  }
  std::fstream(path, std::ios::binary | std::ios::in | std::ios::out).seekp(4000) << "damage";
  CHECK(contains(message(), "cannot be read"));
}

TEST_CASE("where libzip is not found, archives throw FileError that says what to install") {
  const Folder folder;
  for (const char* name : {"libzip.so.4", "libzip.so.5"}) write(folder.file(name), "no library");
  const auto result = hd::test::run_child("child: archives without libzip",
                                          {"LD_LIBRARY_PATH=" + folder.path.string()});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: archives without libzip" * doctest::skip()) {
  const Folder folder;
  const std::string path = folder.file("x.npz");
  const std::string message =
      message_of<hd::FileError>([&] { hd::savez(path, {{"a", hd::zeros<double>({3})}}); });
  CHECK(contains(message, path));
  CHECK(contains(message, "libzip is needed"));
  CHECK(contains(message, "Install libzip"));
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("what is no file is refused, and waits for nobody") {
  const Folder folder;
  const std::string pipe = folder.file("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string& path : {pipe, std::string("/dev/zero"), folder.path.string()}) {
    CAPTURE(path);
    CHECK(contains(message_of<hd::FileError>([&] { hd::load(path); }), "cannot be read: it is a "));
    CHECK(contains(message_of<hd::FileError>([&] { hd::loadtxt(path); }), "cannot be read: it is"));
    CHECK_THROWS_AS(hd::load_npz(path), hd::FileError);
  }
}

TEST_CASE("files that say or seem to hold more than memory does are OutOfMemory, soon") {
  const Folder folder;
  const std::string path = folder.file("x.npy");
  const std::string header =
      "{'descr': '<f8', 'fortran_order': False, 'shape': (549755813888,), }\n";
  write(path, npy(header, ""));
  CHECK_THROWS_AS(hd::load(path), hd::OutOfMemory);
  std::filesystem::resize_file(path, std::uint64_t{1} << 42);  // of which the disk has nothing
  CHECK(contains(message_of<hd::OutOfMemory>([&] { hd::load(path); }), "bytes of memory"));
  CHECK_THROWS_AS(hd::loadtxt(path), hd::OutOfMemory);
  CHECK_THROWS_AS(hd::load_npz(path), hd::FileError);
  // What lies behind an array is not read.
  write(path,
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }\n", std::string(8, '\0')));
  std::filesystem::resize_file(path, std::uint64_t{1} << 42);
  CHECK(hd::load(path).item<double>() == 0);
  // Nor is what a shape only claims taken from memory.
  for (const char* shape : {"(1152921504606846976,)", "(4611686018427387904, 4)",
                            "(0, 9223372036854775807)", "(9223372036854775808,)", "(-1,)"}) {
    CAPTURE(shape);
    write(path,
          npy(std::string("{'descr': '<c16', 'fortran_order': False, 'shape': ") + shape + ", }\n",
              ""));
    CHECK_THROWS_AS(hd::load(path), hd::FileError);
  }
  std::string many = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < 65; ++i) many += "1,";
  write(path, npy(many + "), }\n", "abcd"));
  CHECK(contains(message_of<hd::FileError>([&] { hd::load(path); }), "64 axes"));
}

TEST_CASE("an archive's file is inflated no further than its array goes") {
  const Folder folder;
  const std::string path = folder.file("x.npz");
  try {
    hd::savez_compressed(path, {{"a", hd::zeros<double>({std::int64_t{1} << 22})}});
  } catch (const hd::FileError&) {
    return;  // no libzip here
  }
  CHECK(std::filesystem::file_size(path) < 200'000);
  CHECK(hd::load_npz(path).at("a").size() == std::int64_t{1} << 22);
}

TEST_CASE("text is written and read back") {
  const Folder folder;
  const std::string path = folder.file("points.txt");
  const hd::Array x = hd::arange<float>(6).reshape({3, 2}) / 7.0f;
  hd::savetxt(path, x, {.formats = {"%.9g"}, .delimiter = ",", .header = "x, y"});
  CHECK(hd::array_equal(hd::loadtxt(path, {.dtype = hd::float32, .delimiter = ','}), x));
  CHECK(hd::array_equal(
      hd::loadtxt(path, {.dtype = hd::float32, .delimiter = ',', .usecols = {{-1}}}), x(hd::_, 1)));
  std::stringstream stream;
  hd::savetxt(stream, hd::array(std::vector<std::complex<double>>{{1, -2}, {0, 3}}),
              {.formats = {"%.1f"}});
  CHECK(stream.str() == " (1.0-2.0j)\n (0.0+3.0j)\n");
  check<std::complex<double>>(hd::loadtxt(stream, {.dtype = hd::complex128}), {2},
                              {{1, -2}, {0, 3}});
  const auto message = [](const std::string& text, const hd::LoadTextOptions& options = {}) {
    std::istringstream lines(text);
    return message_of<hd::ValueError>([&] { hd::loadtxt(lines, options); });
  };
  CHECK(contains(message("1 2\n3 4 5"), "has 3 fields in line 2, but 2 before"));
  CHECK(contains(message("1 x"), "has \"x\" in line 1, field 2, which is no float64 ("));
  CHECK(contains(message("1 2", {.usecols = {{2}}}), "has 2 fields in line 1, and no field 2"));
  CHECK_THROWS_AS(hd::savetxt(path, x, {.formats = {"%d", "%d", "%d"}}), hd::ValueError);
  CHECK_THROWS_AS(hd::savetxt(path, x, {.formats = {"%x"}}), hd::DTypeError);
  CHECK_THROWS_AS(hd::savetxt(path + "/no/x", x), hd::FileError);
  CHECK_THROWS_AS(hd::loadtxt(path + "/no/x"), hd::FileError);
  CHECK(hd::array_equal(hd::loadtxt(path, {.dtype = hd::float32, .delimiter = ','}), x));
}
