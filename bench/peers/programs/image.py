"""Images and video: bytes in, bytes or floats out."""

from peers.program import Input, Program, cast, line, rounding, side
from peers.programs.expressions import in_c_order


def grey(xp, pixels):
    x = cast(xp, pixels, "float32")
    return 0.299 * x[..., 0] + 0.587 * x[..., 1] + 0.114 * x[..., 2]


def sepia(xp, pixels, mix):
    toned = xp.matmul(cast(xp, pixels, "float32"), mix)
    return cast(xp, xp.clip(toned + 0.5, 0.0, 255.0), "uint8")


def gamma(xp, pixels):
    x = cast(xp, pixels, "float32") * (1 / 255)
    return cast(xp, x ** (1 / 2.2) * 255.0 + 0.5, "uint8")


def sobel(xp, u):
    left = u[:-2, :-2] + 2.0 * u[1:-1, :-2] + u[2:, :-2]
    right = u[:-2, 2:] + 2.0 * u[1:-1, 2:] + u[2:, 2:]
    above = u[:-2, :-2] + 2.0 * u[:-2, 1:-1] + u[:-2, 2:]
    below = u[2:, :-2] + 2.0 * u[2:, 1:-1] + u[2:, 2:]
    return xp.sqrt((right - left) ** 2 + (below - above) ** 2)


def gaussian_blur(xp, u):
    """5 x 5, rows and then columns."""
    weights = (0.0625, 0.25, 0.375, 0.25, 0.0625)
    height, width = u.shape
    rows = sum(w * u[k:height - 4 + k] for k, w in enumerate(weights))
    return sum(w * rows[:, k:width - 4 + k] for k, w in enumerate(weights))


def unsharp_mask(xp, u):
    """With a 3 x 3 box over edges that repeat."""
    padded = xp.concatenate([u[:1], u, u[-1:]], axis=0)
    padded = xp.concatenate([padded[:, :1], padded, padded[:, -1:]], axis=1)
    height, width = u.shape
    box = sum(padded[i:height + i, j:width + j] for i in range(3) for j in range(3)) * (1 / 9)
    return xp.clip(u + 0.7 * (u - box), 0.0, 1.0)


def halve(xp, u):
    return (u[0::2, 0::2] + u[1::2, 0::2] + u[0::2, 1::2] + u[1::2, 1::2]) * 0.25


def max_pool(xp, u):
    """3 x 3, stride 2, of a batch of channels."""
    height, width = u.shape[2] - 2, u.shape[3] - 2
    pooled = u[:, :, 0:height:2, 0:width:2]
    for i in range(3):
        for j in range(3):
            if i or j:
                pooled = xp.maximum(pooled, u[:, :, i:height + i:2, j:width + j:2])
    return pooled


def channels_first(xp, pixels, mean, deviation):
    """A batch of pictures, made ready for a network."""
    x = (cast(xp, pixels, "float32") * (1 / 255) - mean) / deviation
    return in_c_order(xp, xp.transpose(cast(xp, x, "float16"), (0, 3, 1, 2)))


def mirrored_crop(xp, pixels):
    return xp.flip(pixels, axis=2)[:, 8:-8, 8:-8, :] * 1


def dilate(xp, mask):
    return (mask[1:-1, 1:-1] | mask[:-2, 1:-1] | mask[2:, 1:-1] | mask[1:-1, :-2]
            | mask[1:-1, 2:])


def quarter_turn(xp, pixels):
    """Pixels of four bytes, a quarter turn."""
    return in_c_order(xp, xp.flip(pixels, axis=0).T)


def depth_to_points(xp, depth, u, v):
    """A depth camera's millimetres to points in metres, (3, height, width)."""
    z = cast(xp, depth, "float32") * 0.001
    return xp.stack([z * u[None, :], z * v[:, None], z], axis=0)


def image(scale):
    def video(frames, height, width):
        return Input((frames, side(height, scale), side(width, scale), 3), 0, 256, "uint8")

    def plane(height, width, dtype="float32", low=0, high=1):
        return Input((side(height, scale), side(width, scale)), low, high, dtype)

    pool = (line(2048, scale), 4, 113, 113)
    return [
        Program("grey of RGB, uint8", grey, (video(12, 2160, 3841),),
                tolerance=rounding("float32", 6), result="float32", rows=(0,)),
        # Rounded to whole numbers up to 255.
        Program("sepia, uint8", sepia, (video(8, 2160, 3840), Input((3, 3), 0.1, 0.5)), floor=255,
                tolerance=1 / 255, result="uint8", rows=(0,)),
        Program("gamma, uint8", gamma, (video(4, 2160, 3840),), kind="arithmetic", floor=255,
                tolerance=1 / 255, result="uint8", rows=(0,)),
        Program("Sobel magnitude", sobel, (plane(4320, 7681),), tolerance=1e-5, rows=(0,),
                halo=2),
        Program("Gaussian blur 5 x 5", gaussian_blur, (plane(5003, 5001),),
                tolerance=rounding("float32", 18), rows=(0,), halo=4),
        Program("unsharp mask", unsharp_mask, (plane(4320, 7680),),
                tolerance=rounding("float32", 13)),
        Program("halve an image", halve, (Input((2 * side(4097, scale), 2 * side(4095, scale)), 0, 1),),
                tolerance=rounding("float32", 4)),
        Program("max pool 3 x 3, float16", max_pool, (Input(pool, -1, 1, "float16"),), tolerance=0,
                rows=(0,)),
        Program("pictures to channels, float16", channels_first,
                (Input((line(512, scale), 224, 224, 3), 0, 256, "uint8"), Input((3,), 0.4, 0.5),
                 Input((3,), 0.2, 0.3)), tolerance=rounding("float16", 1), result="float16",
                rows=(0,)),
        Program("mirror and crop, uint8", mirrored_crop,
                (Input((line(1024, scale), 256, 255, 3), 0, 256, "uint8"),), tolerance=0,
                rows=(0,)),
        Program("dilate a mask, bool", dilate, (plane(12001, 12007, "bool", 0, 2),), tolerance=0,
                rows=(0,), halo=2),
        Program("quarter turn, int32", quarter_turn, (plane(6000, 6001, "int32", 0, 2**31),),
                tolerance=0),
        Program("depth to points, uint16", depth_to_points,
                (plane(4001, 5003, "uint16", 0, 65536), Input((side(5003, scale),), -1, 1),
                 Input((side(4001, scale),), -1, 1)), tolerance=rounding("float32", 3),
                result="float32"),
    ]
