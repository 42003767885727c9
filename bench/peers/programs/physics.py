"""Particles, fields on grids, waves."""

import numpy as np

from peers.program import Input, Program, cast, line, rounding, side
from peers.programs.checks import of_some_rows, share_that_differs
from peers.programs.expressions import in_c_order


def gravity_at(xp, places, position, mass):
    apart = position[None, :, :] - places[:, None, :]
    square = xp.sum(apart * apart, axis=-1) + 1e-3
    pull = mass[None, :] / (square * xp.sqrt(square))
    return xp.sum(pull[:, :, None] * apart, axis=1)


def gravity(xp, position, mass):
    """The acceleration of each body."""
    return gravity_at(xp, position, position, mass)


def energy_at(xp, places, position):
    apart = places[:, None, :] - position[None, :, :]
    apart = apart - 20.0 * xp.round(apart * 0.05)
    square = xp.sum(apart * apart, axis=-1)
    near = (square > 0) & (square < 9)
    sixth = 1.0 / xp.where(near, square + 0.5, 1.0) ** 3
    return xp.sum(xp.where(near, sixth * sixth - sixth, 0.0), axis=1) * 2.0


def lennard_jones(xp, position):
    """The potential energy of each particle in a periodic box of side 20."""
    return energy_at(xp, position, position)


def wave(xp, u, before):
    """One step of the wave equation on a torus."""
    around = xp.roll(u, 1, 0) + xp.roll(u, -1, 0) + xp.roll(u, 1, 1) + xp.roll(u, -1, 1)
    return 2.0 * u - before + 0.1 * (around - 4.0 * u)


def laplacian(u):
    return (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1])


def gray_scott(xp, u, v):
    """One step of a reaction with diffusion; both fields, inside the border."""
    a, b = u[1:-1, 1:-1], v[1:-1, 1:-1]
    reaction = a * b * b
    new_a = a + 0.16 * laplacian(u) - reaction + 0.06 * (1.0 - a)
    new_b = b + 0.08 * laplacian(v) + reaction - 0.122 * b
    return xp.stack([new_a, new_b], axis=0)


def lattice_boltzmann(xp, f):
    """The collision of D2Q9."""
    directions = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1))
    weights = (4 / 9,) + (1 / 9,) * 4 + (1 / 36,) * 4
    density = xp.sum(f, axis=0)
    right = (f[1] - f[3] + f[5] - f[6] - f[7] + f[8]) / density
    up = (f[2] - f[4] + f[5] + f[6] - f[7] - f[8]) / density
    energy = 1.5 * (right * right + up * up)
    collided = []
    for k, (dx, dy) in enumerate(directions):
        along = 3.0 * (dx * right + dy * up)
        settled = weights[k] * density * (1.0 + along + 0.5 * along * along - energy)
        collided.append(f[k] - 0.6 * (f[k] - settled))
    return xp.stack(collided, axis=0)


def heat_27_points(xp, u):
    n, m, k = u.shape
    total = 0.0
    for x in range(3):
        for y in range(3):
            for z in range(3):
                weight = (0.3, 0.05, 0.025, 0.0125)[abs(x - 1) + abs(y - 1) + abs(z - 1)]
                total = total + weight * u[x:n - 2 + x, y:m - 2 + y, z:k - 2 + z]
    return total


def shallow_water(xp, h, u, v):
    """The height after one step, with velocities at the cells' edges, on a torus."""
    east, north = h + xp.roll(h, -1, 1), h + xp.roll(h, -1, 0)
    flow_u, flow_v = 0.5 * u * east, 0.5 * v * north
    spread = flow_u - xp.roll(flow_u, 1, 1) + flow_v - xp.roll(flow_v, 1, 0)
    return h - 0.1 * spread


def magnetic_step(xp, b, e):
    """B - dt curl E of fields (3, x, y, z)."""
    ex, ey, ez = e[0], e[1], e[2]
    dy_ez, dz_ey = ez[:-1, 1:, :-1] - ez[:-1, :-1, :-1], ey[:-1, :-1, 1:] - ey[:-1, :-1, :-1]
    dz_ex, dx_ez = ex[:-1, :-1, 1:] - ex[:-1, :-1, :-1], ez[1:, :-1, :-1] - ez[:-1, :-1, :-1]
    dx_ey, dy_ex = ey[1:, :-1, :-1] - ey[:-1, :-1, :-1], ex[:-1, 1:, :-1] - ex[:-1, :-1, :-1]
    curl = xp.stack([dy_ez - dz_ey, dz_ex - dx_ez, dx_ey - dy_ex], axis=0)
    return b[:, :-1, :-1, :-1] - 0.1 * curl


def phase_step(xp, psi, potential):
    return psi * xp.exp(-0.01j * potential)


def fourier_step(xp, psi, phase):
    """The kinetic half of a split step."""
    return xp.fft.ifft2(xp.fft.fft2(psi) * phase)


def strain_energy(xp, u, stiffness):
    """Of displacement gradients (x, y, z, 3, 3)."""
    strain = 0.5 * (u + xp.swapaxes(u, -1, -2))
    trace = u[..., 0, 0] + u[..., 1, 1] + u[..., 2, 2]
    return stiffness * xp.sum(xp.sum(strain * strain, axis=-1), axis=-1) + 0.5 * trace * trace


def blocks_to_volume(xp, blocks):
    """(a, b, c, x, y, z) blocks of a volume into (a x, b y, c z)."""
    a, b, c, x, y, z = blocks.shape
    volume = xp.transpose(blocks, (0, 3, 1, 4, 2, 5)).reshape((a * x, b * y, c * z))
    return in_c_order(xp, volume * 0.5)


def mandelbrot(xp, real, imaginary):
    """The number of 20 steps after which each point is inside, unrolled."""
    a, b = real[None, :], imaginary[:, None]
    x, y = 0.0 * (a + b), 0.0 * (a + b)
    count = cast(xp, x, "int32")
    for _ in range(20):
        inside = x * x + y * y <= 4.0
        count = count + cast(xp, inside, "int32")
        x, y = (xp.where(inside, x * x - y * y + a, x), xp.where(inside, 2.0 * x * y + b, y))
    return count


def physics(scale):
    def grid(*shape, dtype="float32", low=0.1, high=1):
        return Input(tuple(side(extent, scale) for extent in shape), low, high, dtype)

    bodies, particles = side(8192, scale), side(4096, scale)
    complexes = grid(4096, 4096, dtype="complex64", low=-1)
    edge = max(1, 32 // scale)
    return [
        Program("n-body, 8192", gravity, (Input((bodies, 3), -1, 1), Input((bodies,))),
                kind="arithmetic", tolerance=rounding("float32", 8, bodies),
                check=of_some_rows(lambda step, x, m: gravity_at(np, x[::step], x, m), bodies)),
        Program("Lennard-Jones, float64", lennard_jones,
                (Input((particles, 3), 0, 20, "float64"),), kind="arithmetic",
                tolerance=rounding("float64", 100, particles),
                check=of_some_rows(lambda step, x: energy_at(np, x[::step], x), 10)),
        Program("wave on a torus", wave, (grid(6001, 6007),) * 2, tolerance=rounding("float32", 9)),
        Program("Gray-Scott", gray_scott, (grid(4097, 5003),) * 2,
                tolerance=rounding("float32", 12)),
        Program("lattice Boltzmann, D2Q9", lattice_boltzmann, (Input((9, side(2048, scale),
                side(2049, scale))),), tolerance=rounding("float32", 40)),
        Program("heat, 27 points, float64", heat_27_points, (grid(283, 287, 281, dtype="float64"),),
                tolerance=rounding("float64", 27), rows=(0,), halo=2),
        Program("shallow water", shallow_water, (grid(4096, 6001),) * 3,
                tolerance=rounding("float32", 10)),
        Program("curl of a field", magnetic_step,
                (Input((3, *(side(extent, scale) for extent in (224, 225, 223))),),) * 2,
                tolerance=rounding("float32", 6)),
        Program("phase step, complex64", phase_step, (complexes, grid(4096, 4096)),
                tolerance=rounding("float32", 4)),
        Program("Fourier step, complex64", fourier_step, (complexes,) * 2, kind="library",
                tolerance=rounding("float32", 60), floor=1),
        Program("strain energy, 5 dims", strain_energy,
                (Input((*(side(extent, scale) for extent in (160, 161, 128)), 3, 3)), Input((1,))),
                tolerance=rounding("float32", 12, 9)),
        Program("blocks to a volume, 6 dims", blocks_to_volume,
                (Input((edge, edge, 15, 16, 17, 32)),), tolerance=0, rows=(0,)),
        # A point at the border may stay in or leave by one rounding.
        Program("Mandelbrot, 20 steps", mandelbrot,
                (Input((side(4096, scale),), -2, 1), Input((side(4096, scale),), -1.5, 1.5)),
                kind="arithmetic", tolerance=1e-3, result="int32",
                check=share_that_differs(lambda step, a, b: mandelbrot(np, a, b[::step]))),
    ]
