"""The classes of heddle.nnet: convolution and pooling, with CUDArray's names."""

from heddle import _heddle

_nnet = _heddle.nnet


def _output(result, out):
    if out is None:
        return result
    out[...] = result
    return out


def _check_out(name, out, shape, dtype):
    if out is not None and (tuple(out.shape) != tuple(shape) or out.dtype != dtype):
        raise _heddle.ShapeError(f"{name} is {out.dtype}{list(out.shape)}, but the result is "
                                 f"{dtype}{list(shape)}")


def _count(size, padding, window, stride):
    return (size + 2 * padding - window) // stride + 1


class ConvBC01:
    """Convolutions of images [b, c, h, w] with filters [f, c, fh, fw], after `padding` zeros on each
    side, every `strides` elements: CUDArray's ConvBC01. The filters are not flipped. `impl` has no
    effect.

    Raises ShapeError if channels differ or filters are larger than padded images, DTypeError if
    the dtypes differ, ValueError for strides below 1 or negative padding.

    >>> conv = hd.nnet.ConvBC01(padding=(1, 1), strides=(1, 1))
    >>> conv.fprop(hd.ones((2, 3, 8, 8)), hd.ones((4, 3, 3, 3))).shape
    """

    def __init__(self, padding, strides, impl=None):
        self.padding, self.strides = tuple(padding), tuple(strides)
        self.last_imgs = None

    def fprop(self, imgs, filters, convout=None):
        """[b, f, (h + 2 * padding - fh) // strides + 1, ...], in convout if it is given."""
        result = _nnet._convolve(imgs, filters, self.padding, self.strides)
        _check_out("convout", convout, result.shape, result.dtype)
        self.last_imgs = imgs
        return _output(result, convout)

    def bprop(self, imgs, filters, convout_d, to_filters=True, to_imgs=True, filters_d=None,
              imgs_d=None):
        """The gradients for the filters and the images, of which convout_d is the one for fprop's
        result; None for one that is not asked for. imgs=None: those of the last fprop."""
        imgs = self.last_imgs if imgs is None else imgs
        if imgs is None:
            raise ValueError("ConvBC01.bprop: imgs is None, and fprop was not called")
        to_filters_d, to_imgs_d = _nnet._convolve_back(imgs, filters, convout_d, self.padding,
                                                       self.strides, to_filters, to_imgs)
        for name, out, result in (("filters_d", filters_d, to_filters_d),
                                  ("imgs_d", imgs_d, to_imgs_d)):
            if result is not None:
                _check_out(name, out, result.shape, result.dtype)
        return (None if to_filters_d is None else _output(to_filters_d, filters_d),
                None if to_imgs_d is None else _output(to_imgs_d, imgs_d))

    def output_shape(self, imgs_shape, n_filters, filter_shape):
        return (imgs_shape[0], n_filters) + tuple(
            map(_count, imgs_shape[2:], self.padding, filter_shape, self.strides))


class PoolB01:
    """The maximum or the average of windows of images [..., h, w]: CUDArray's PoolB01. Padding takes
    no part in a maximum, and counts as zeros in an average. After fprop with method 'max', `mask`
    says where the maxima are, as int32: row times width plus column. `impl` has no effect.

    Raises ShapeError for windows larger than the padded images, ValueError for windows or strides
    below 1, padding that is negative or not smaller than the window, and other methods.

    >>> pool = hd.nnet.PoolB01(win_shape=(2, 2), padding=(0, 0), strides=(2, 2))
    >>> pool.fprop(hd.arange(16.0).reshape(1, 1, 4, 4))
    """

    def __init__(self, win_shape, padding, strides, method="max", impl=None):
        self.win_shape, self.padding, self.strides = map(tuple, (win_shape, padding, strides))
        if method not in ("max", "avg"):
            raise ValueError(f"PoolB01: there is no method {method!r}; use 'max' or 'avg'")
        self.method, self.mask = method, None

    def fprop(self, imgs, poolout=None):
        """The pooled images, in poolout if it is given."""
        result, self.mask = _nnet._pool(imgs, self.win_shape, self.padding, self.strides,
                                        self.method)
        _check_out("poolout", poolout, result.shape, result.dtype)
        return _output(result, poolout)

    def bprop(self, img_shape, poolout_d, imgs_d=None):
        """The gradient for images of img_shape, (h, w), of which poolout_d is the one for fprop's
        result."""
        result = _nnet._pool_back(img_shape, poolout_d, self.mask, self.win_shape, self.padding,
                                  self.strides, self.method)
        _check_out("imgs_d", imgs_d, result.shape, result.dtype)
        return _output(result, imgs_d)

    def output_shape(self, imgs_shape):
        return tuple(imgs_shape[:-2]) + tuple(
            map(_count, imgs_shape[-2:], self.padding, self.win_shape, self.strides))

    def __getstate__(self):
        return {**self.__dict__, "mask": None}


def install(module):
    for one in (ConvBC01, PoolB01):
        one.__module__ = "heddle.nnet"
        setattr(module, one.__name__, one)
