"""Files of text, against NumPy's own loadtxt and savetxt."""

import gzip
import io
import os
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import check

import heddle as hd

READ = [
    ("", {}), ("", {"ndmin": 1}), ("", {"ndmin": 2}), ("", {"usecols": (0, 1)}),
    ("", {"usecols": (0, 1), "unpack": True}), ("# only this", {"ndmin": 2}),
    ("1", {}), ("1", {"ndmin": 1}), ("1", {"ndmin": 2}), ("1 2", {"ndmin": 2}),
    ("1\n2", {"ndmin": 2}), ("1\n2", {}), ("1 2\n3 4\n\n", {}), ("1 2\r\n3 4\r\n", {}),
    ("1,2", {"delimiter": ","}), ("1, 2", {"delimiter": ","}), ("1\t 2", {}),
    ("1\t2", {"delimiter": "\t"}), ("1 \n2 ", {"delimiter": ","}),
    ("# a\n1 2 # b\n#c\n\n3 4\n  # d", {}), ("1%2", {"comments": "%"}),
    ("1//2\n3#4", {"comments": ["//", "#"]}), ("1 2", {"comments": None}),
    ("a b\n1\n2", {"skiprows": 1}), ("\n\n1\n2", {"skiprows": 1}), ("1\n2", {"skiprows": 9}),
    ("1 2 3\n4 5 6", {"usecols": 1}), ("1 2 3\n4 5 6", {"usecols": (-1, 0)}),
    ("1 2 3\n4 5", {"usecols": [0]}), ("1 x 3\n4 y", {"usecols": [0, 0]}),
    ("1 2\n3 4", {"usecols": []}),
    ("1 2\n\n#\n3 4\n5 6", {"max_rows": 2}), ("1 2", {"max_rows": 0}),
    ("1 2\n3 4\n5 6", {"unpack": True}), ("1 2", {"unpack": True, "ndmin": 2}),
    ("nan inf -inf +1 1e400 -1e400 1e-400 -Infinity NaN 1. .5 -0 1e+5 0.0e999", {}),
    ("2.2250738585072011e-308 4.9e-324 9007199254740993 0.1", {}),
    ("1 -2 +300 70000", {"dtype": "int32"}), ("1 0 -3", {"dtype": "bool"}),
    ("-9223372036854775808 9223372036854775807", {"dtype": "int64"}),
    ("18446744073709551615", {"dtype": "uint64"}), ("-128 127", {"dtype": "int8"}),
    ("0 255", {"dtype": "uint8"}), ("1.1 65520 -1e-9", {"dtype": "float16"}),
    ("1.1 1e39 16777217", {"dtype": "float32"}),
    ("1j (1+2j) 1-2j (3) +1e3-4.5j inf nan+1j -1e400+1j", {"dtype": "complex128"}),
    ("( 1+2j ), 3", {"dtype": "complex64", "delimiter": ","}),
    ("'1'2,3", {"delimiter": ",", "quotechar": "'"}), ("'1' '2'", {"quotechar": "'"}),
    ("'1\n',3", {"delimiter": ",", "quotechar": "'"}), ("'1", {"delimiter": ",", "quotechar": "'"}),
    ("1 ''", {"quotechar": "'", "usecols": 0}),
]
UNREADABLE = [
    ("1 2\n3", {}), ("1,,2", {"delimiter": ","}), ("1,2,", {"delimiter": ","}),
    ("   \n1", {"delimiter": ","}),
    ("1 2", {"usecols": 2}), ("1 2", {"usecols": -3}), ("1 x", {}), ("0x10", {}), ("1_0", {}),
    ("1e", {}),
    ("--1", {}), ("+-1", {}), ("-+1", {}), ("nan(1)", {}),
    ("1.5", {"dtype": "int32"}), ("1e3", {"dtype": "int64"}),
    ("300", {"dtype": "uint8"}), ("-1", {"dtype": "uint64"}), ("-129", {"dtype": "int8"}),
    ("9223372036854775808", {"dtype": "int64"}), ("True", {"dtype": "bool"}),
    ("1+2", {"dtype": "complex64"}),
    ("(1+2j", {"dtype": "complex64"}), ("1i", {"dtype": "complex64"}),
    ("1+2jj", {"dtype": "complex64"}),
    ("1", {"ndmin": 3}), ("1", {"ndmin": -1}), ("1", {"skiprows": -1}), ("1", {"max_rows": -1}),
    ("1", {"delimiter": "ab"}), ("1", {"comments": ""}), ("1", {"comments": ",", "delimiter": ","}),
    ("1", {"usecols": 1.5}), ("''", {"quotechar": "'"}), ('"1"', {}),
]


def kind(error):
    return next(base for base in (ValueError, TypeError) if isinstance(error, base))


@pytest.mark.parametrize(("text", "options"), READ)
def test_reads_as_numpy(text, options, tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(text.encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no data
        want = np.loadtxt(io.StringIO(text, newline=None), **options)
    for source in (str(path), path, io.StringIO(text), io.BytesIO(text.encode())):
        check(hd.loadtxt(source, **options), want)


@pytest.mark.parametrize(("text", "options"), UNREADABLE)
def test_refuses_as_numpy(text, options, tmp_path):
    with pytest.raises((ValueError, TypeError)):
        np.loadtxt(io.StringIO(text), **options)
    with pytest.raises((ValueError, TypeError)):
        hd.loadtxt(io.StringIO(text), **options)


def test_converters(tmp_path):
    """NumPy's documented examples, and a file."""
    def negative(text):
        return -float(text[:-1]) if text.endswith("-") else float(text)

    (tmp_path / "x.csv").write_text("1.618, 2.296\n10.01-, 4.0-\n")
    for source, options in [(tmp_path / "x.csv", {"delimiter": ",", "converters": lambda s: negative(s.strip())}),
                            (["1.5, , 3.0"], {"delimiter": ",", "converters": {1: lambda s: float(s.strip() or 7)}}),
                            (["0xDE 0xAD", "0xC0 0xDE"], {"dtype": "int64", "converters": lambda s: int(s, 0)})]:
        check(hd.loadtxt(source, **options), np.loadtxt(source, **options))
    with pytest.raises(ValueError, match="could not convert"):
        hd.loadtxt(["a"], converters=float)


def test_sources_of_text(tmp_path):
    lines = ["1 2\n", "3 4"]
    check(hd.loadtxt(lines), np.loadtxt(lines))
    check(hd.loadtxt(iter(lines)), np.loadtxt(lines))
    with gzip.open(tmp_path / "x.gz", "wt") as file:
        file.writelines(lines)
    check(hd.loadtxt(tmp_path / "x.gz"), np.loadtxt(tmp_path / "x.gz"))
    with pytest.raises(hd.FileError, match="nothing.txt cannot be opened"):
        hd.loadtxt(tmp_path / "nothing.txt")
    (tmp_path / "bad.csv").write_text("x,y\n1,2\n3,a\n")
    with pytest.raises(ValueError, match='bad.csv has "a" in line 3, field 2, which is'):
        hd.loadtxt(tmp_path / "bad.csv", delimiter=",", skiprows=1)
    with pytest.raises(ValueError, match="utf-16"):
        hd.loadtxt(lines, encoding="utf-16")


INTEGERS = np.array([[1, -2], [300, 4]])
FLOATS = np.array([1.5, -2e30, 0.1, -0.0, -0.4, 1e-5, 123456789.0])
SPECIAL = np.array([[1.5, np.nan], [np.inf, -np.inf]])
COMPLEX = np.array([[1 - 2j, 3j], [-0.5 + 1e9j, np.nan]])
WRITTEN = [
    *[(x, {"fmt": fmt}) for x in (INTEGERS, FLOATS, INTEGERS > 0, FLOATS.astype("float32"),
                                  FLOATS[:1].astype("float16"), INTEGERS.astype("uint8"))
      for fmt in ("%.18e", "%d", "%5i|", "%-8.3f|", "%+g", "%#G", "% .2E", "%08.1f", "%s", "%12s",
                  "%-12.2s|", "%+.3d", "% 05d", "%ld", "%u", "%.0f", "%5.1F")],
    *[(INTEGERS, {"fmt": fmt})
      for fmt in ("%x", "%#X", "%#o", "%08x", "%#8x|", "%#08x", "%-#8x|", "%+x", "%.4x")],
    *[(SPECIAL, {"fmt": fmt}) for fmt in ("%e", "%08.2f", "%+F", "%s", "% g", "%G")],
    *[(COMPLEX, {"fmt": fmt}) for fmt in ("%.18e", "%.1f", "%s", "%+g", "(%.1f,%.2f) (%.1f,%.2f)",
                                          ["%.1f%+.1fj"] * 2)],
    (COMPLEX.astype("complex64"), {"fmt": "%s"}),
    (INTEGERS, {"fmt": ["%d", "%.1f"]}), (INTEGERS, {"fmt": "%5d and %-5d."}),
    (INTEGERS, {"header": "x\ny", "footer": "z", "comments": "% ", "newline": "\r\n",
                 "delimiter": ","}),
    (np.zeros((0, 2)), {}), (np.zeros((2, 0)), {}), (np.zeros(0), {}),
    (np.array([2**63, 2**64 - 1], dtype="uint64"), {"fmt": "%d"}),
    (np.array([-2**63]), {"fmt": "%d"}),
    (np.array([-2**63]), {"fmt": "%x"}),
]
REFUSED = [
    (np.array(1.0), {}), (np.zeros((1, 1, 1)), {}), (INTEGERS, {"fmt": "%d %d %d"}),
    (INTEGERS, {"fmt": "abc"}),
    (INTEGERS, {"fmt": 5}), (INTEGERS, {"fmt": "%q"}), (INTEGERS, {"fmt": "%"}),
    (SPECIAL, {"fmt": "%d"}),
    (FLOATS, {"fmt": "%x"}), (INTEGERS > 0, {"fmt": "%x"}), (COMPLEX, {"fmt": "%f%f"}),
    (INTEGERS, {"fmt": "%5"}),
]


@pytest.mark.parametrize(("x", "options"), WRITTEN)
def test_writes_as_numpy(x, options, tmp_path):
    path = tmp_path / "x.txt"
    want = io.BytesIO()
    np.savetxt(want, x, **options)
    hd.savetxt(path, hd.asarray(x), **options)
    assert path.read_bytes() == want.getvalue()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("x", "options"), REFUSED)
def test_refuses_to_write_as_numpy(x, options, tmp_path):
    path = tmp_path / "x.txt"
    with pytest.raises((ValueError, TypeError)) as want:
        np.savetxt(io.StringIO(), x, **options)
    with pytest.raises(kind(want.value)):
        hd.savetxt(path, hd.asarray(x), **options)
    assert not list(Path(tmp_path).iterdir())


def test_where_text_goes(tmp_path):
    x = hd.asarray(FLOATS) * 2
    for file in (io.StringIO(), io.BytesIO()):
        hd.savetxt(file, x, fmt="%.17g")
        text = file.getvalue()
        check(hd.loadtxt(io.StringIO(text if isinstance(text, str) else text.decode())), FLOATS * 2)
    for name in ("x.txt", "x.gz", "x.xz", "x.bz2"):
        hd.savetxt(tmp_path / name, x, header="no data")
        np.testing.assert_array_equal(np.loadtxt(tmp_path / name), FLOATS * 2)
        check(hd.loadtxt(tmp_path / name), FLOATS * 2)
    with pytest.raises(hd.FileError, match="cannot be written"):
        hd.savetxt(tmp_path / "no" / "x.txt", x)
    with pytest.raises(ValueError):
        hd.savetxt(tmp_path / "x.txt", hd.asarray(INTEGERS), fmt=["%d"])
    with pytest.raises(hd.TraceError):
        hd.jit(lambda a: hd.savetxt(str(tmp_path / "y.txt"), a))(x)


def test_what_is_no_plain_file_is_written_to(tmp_path):
    link, data = tmp_path / "link", tmp_path / "data"
    data.write_text("old")
    data.chmod(0o600)
    link.symlink_to(data)
    hd.savetxt(str(link), hd.asarray([1.0, 2.0]), fmt="%g")
    assert link.is_symlink() and data.read_text() == "1\n2\n" and data.stat().st_mode & 0o777 == 0o600
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    hd.savetxt(str(pipe), hd.asarray([3.0]), fmt="%g")
    reader.join()
    assert read == ["3\n"] and pipe.is_fifo()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data", "link", "pipe"]


def test_names_and_text_of_any_characters(tmp_path):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt")
    hd.savetxt(name, hd.asarray([1.0]), fmt="%g")
    assert np.loadtxt(name) == 1 and hd.loadtxt(name).item() == 1
    for path in ("nul\0.txt", tmp_path / "nul\0.txt"):
        with pytest.raises(ValueError, match="null"):
            hd.savetxt(path, hd.asarray([1.0]))
    with pytest.raises(ValueError):
        hd.loadtxt(io.StringIO("1 2\0 3\n4 5 6"))
    with pytest.raises(UnicodeEncodeError):
        hd.savetxt(io.StringIO(), hd.asarray([1.0]), header="\udc80")
    with pytest.raises(ValueError, match="utf-8"):
        hd.savetxt(io.StringIO(), hd.asarray([1.0]), header="\xe9", encoding="latin1")
    for arguments in (([1, 2],), (b"path",)):
        with pytest.raises((TypeError, OSError, ValueError)):
            hd.loadtxt(*arguments)
    with pytest.raises(TypeError):
        hd.loadtxt(io.StringIO("1"), comments=[1])
    np.testing.assert_array_equal(hd.asnumpy(hd.loadtxt(io.StringIO("1 # x"), comments=b"#")), 1)
    with pytest.raises(OSError, match="cannot be read"):
        hd.loadtxt(str(tmp_path))
