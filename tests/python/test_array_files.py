"""Arrays in files: paths of any kind, open files, and NumPy reads what is written."""

import io
import pathlib

import numpy as np
import pytest

import heddle as hd


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "complex128"])
@pytest.mark.parametrize("shape", [(), (0,), (3, 4), (2, 0, 5)])
def test_open_files_hold_what_paths_do(tmp_path, dtype, shape):
    values = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    file = io.BytesIO()
    hd.save(file, hd.asarray(values))
    file.seek(0)
    path = pathlib.Path(tmp_path) / "x.npy"
    hd.save(path, hd.asarray(values))
    for found in (np.load(file), np.load(path), hd.asnumpy(hd.load(path))):
        assert found.dtype == values.dtype
        np.testing.assert_array_equal(found, values)
    with open(path, "rb") as opened:
        np.testing.assert_array_equal(hd.asnumpy(hd.load(opened)), values)


@pytest.mark.parametrize("save", ["savez", "savez_compressed"])
def test_archives_in_open_files(save):
    file = io.BytesIO()
    getattr(hd, save)(file, hd.arange(3), [1.5, 2.5], w=hd.ones((2, 2)))
    file.seek(0)
    with hd.load(file) as arrays:
        assert sorted(arrays.files) == ["arr_0", "arr_1", "w"]
        assert arrays["arr_1"].tolist() == [1.5, 2.5]
        assert isinstance(arrays["w"], hd.Array)
    file.seek(0)
    assert np.load(file)["arr_0"].tolist() == [0, 1, 2]


def names_written(folder, write):
    folder.mkdir()
    write(folder)
    return sorted(file.name for file in folder.iterdir())


def test_suffixes_are_appended_as_by_numpy(tmp_path):
    for module in (np, hd):
        def write(folder):
            module.save(folder / "a", module.ones(2))
            module.save(str(folder / "b.npy"), module.ones(2))

        assert names_written(tmp_path / module.__name__, write) == ["a.npy", "b.npy"]


def test_suffixes_of_archives_are_appended_as_by_numpy(tmp_path):
    try:
        hd.savez(tmp_path / "x.npz", hd.ones(1))
    except hd.FileError as error:
        assert "libzip is needed" in str(error)
        pytest.skip("there is no libzip")
    for module in (np, hd):
        def write(folder):
            module.savez(folder / "c", x=module.ones(2))
            module.savez_compressed(str(folder / "d.zip"), x=module.ones(2))

        assert names_written(tmp_path / module.__name__, write) == ["c.npz", "d.zip.npz"]


def test_what_is_no_file_is_refused():
    with pytest.raises(TypeError, match="a path or a file"):
        hd.save(3, hd.ones(2))
    with pytest.raises(TypeError, match="a path or a file"):
        hd.load(None)
    with pytest.raises(hd.FileError):
        hd.load("/nowhere/x.npy")
