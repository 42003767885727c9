"""PageRank of a made-up web: a sparse matrix of links times the ranks, again and again. All steps are
one loop on the device."""

import argparse

import heddle as hd

DAMPING = 0.85


def links(size):
    """Each page has three links: to a page that many link to, to one near it, and to one anywhere."""
    page = hd.arange(size)
    to = hd.concatenate([page * page % 97 % size, (page + 1) % size, page * 7919 % size])
    source = hd.concatenate([page, page, page])
    third = hd.full(3 * size, 1 / 3)
    return hd.sparse.coo_array((third, (to, source)), shape=(size, size)).tocsr()


def ranks(web, steps):
    """The part of the time that a reader spends on each page, who follows a random link or, in 15% of
    the cases, goes anywhere."""
    size = web.shape[0]

    def step(_, rank):
        return DAMPING * (web @ rank) + (1 - DAMPING) / size

    return hd.fori_loop(0, steps, step, hd.full(size, 1 / size))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=100000)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--out")
    options = parser.parse_args()

    web = links(options.size)
    rank = ranks(web, options.steps)
    print(f"{options.size} pages, {web.nnz} different links")
    print(f"ranks: sum {rank.sum().item():.5f}, highest {rank.max().item() * options.size:.5f} / n at "
          f"page {rank.argmax().item()}, lowest {rank.min().item() * options.size:.5f} / n")
    if options.out:
        hd.save(options.out, hd.flip(hd.sort(rank)))


if __name__ == "__main__":
    main()
