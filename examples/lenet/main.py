"""LeNet on handwritten digits: two convolutions with pooling, two dense layers, and their gradients
written by hand with heddle.nnet."""

import argparse
import math
import pathlib
import time
from dataclasses import dataclass, fields

import heddle as hd
from heddle import nnet

BATCH = 128
DATA = pathlib.Path(__file__).parent.parent / "digits"


@dataclass
class Weights:
    filters1: hd.Array
    bias1: hd.Array
    filters2: hd.Array
    bias2: hd.Array
    dense3: hd.Array
    bias3: hd.Array
    dense4: hd.Array
    bias4: hd.Array

    def map(self, function, *others):
        """The function of each array, with the same ones of the others."""
        return Weights(*(function(*(getattr(one, field.name) for one in (self, *others)))
                         for field in fields(self)))


def initial(seed):
    random = hd.random.Generator(seed)

    def normal(*shape):
        fan_in = math.prod(shape[1:]) if len(shape) == 4 else shape[0]
        return (random.normal(0.0, 1.0, shape) * math.sqrt(2 / fan_in)).astype(hd.float32)

    def zeros(count):
        return hd.zeros(count, hd.float32)

    return Weights(normal(16, 1, 3, 3), zeros(16), normal(32, 16, 3, 3), zeros(32),
                   normal(128, 96), zeros(96), normal(96, 10), zeros(10))


class LeNet:
    """The layers. What the backward pass needs of the forward pass is kept in between."""

    def __init__(self):
        self.conv1, self.conv2 = (nnet.ConvBC01((1, 1), (1, 1)) for _ in range(2))
        self.pool1, self.pool2 = (nnet.PoolB01((2, 2), (0, 0), (2, 2)) for _ in range(2))

    def scores(self, w, images):
        self.images = images
        self.sum1 = self.conv1.fprop(images, w.filters1) + w.bias1[:, None, None]
        self.pooled1 = self.pool1.fprop(nnet.relu(self.sum1))
        self.sum2 = self.conv2.fprop(self.pooled1, w.filters2) + w.bias2[:, None, None]
        pooled2 = self.pool2.fprop(nnet.relu(self.sum2))
        self.flat = pooled2.reshape((images.shape[0], -1))
        self.sum3 = self.flat @ w.dense3 + w.bias3
        self.hidden = nnet.relu(self.sum3)
        return self.hidden @ w.dense4 + w.bias4

    def gradients(self, w, scores_d):
        hidden_d = scores_d @ w.dense4.T * nnet.relu_d(self.sum3)
        flat_d = hidden_d @ w.dense3.T
        pooled2_d = flat_d.reshape((-1, 32, 2, 2))
        sum2_d = self.pool2.bprop((4, 4), pooled2_d) * nnet.relu_d(self.sum2)
        filters2_d, pooled1_d = self.conv2.bprop(self.pooled1, w.filters2, sum2_d)
        sum1_d = self.pool1.bprop((8, 8), pooled1_d) * nnet.relu_d(self.sum1)
        filters1_d, _ = self.conv1.bprop(self.images, w.filters1, sum1_d, to_imgs=False)
        return Weights(filters1_d, hd.sum(sum1_d, (0, 2, 3)), filters2_d, hd.sum(sum2_d, (0, 2, 3)),
                       self.flat.T @ hidden_d, hd.sum(hidden_d, 0), self.hidden.T @ scores_d,
                       hd.sum(scores_d, 0))


@hd.jit
def step(weights, momentum, images, labels, rate):
    """One step of gradient descent with momentum: the new weights and momentum, and the loss."""
    net = LeNet()
    probabilities = nnet.softmax(net.scores(weights, images))
    classes = nnet.one_hot_encode(labels, 10).astype(hd.float32)
    loss = hd.mean(nnet.categorical_cross_entropy(probabilities, classes, 1e-7))
    gradients = net.gradients(weights, (probabilities - classes) / images.shape[0])
    momentum = momentum.map(lambda m, d, w: 0.9 * m - rate * (d + 5e-4 * w), gradients, weights)
    return weights.map(lambda w, m: w + m, momentum), momentum, loss


@hd.jit
def classify(weights, images):
    return nnet.one_hot_decode(LeNet().scores(weights, images))


def load():
    """Images [n, 1, 8, 8] with numbers from 0 to 1, and labels; every fifth is held out."""
    images = hd.load(str(DATA / "digits.npy")).reshape((-1, 1, 8, 8)).astype(hd.float32) / 16
    labels = hd.load(str(DATA / "labels.npy")).astype(hd.int32)
    held_out = hd.arange(images.shape[0]) % 5 == 4
    return images[~held_out], labels[~held_out], images[held_out], labels[held_out]


def plot(path, losses):
    """The learning curve as SVG."""
    width, height, top = 640, 240, max(losses)
    points = " ".join(f"{k * width / max(1, len(losses) - 1):.1f},{height - v * height / top:.1f}"
                      for k, v in enumerate(losses))
    pathlib.Path(path).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -10 {width + 20} {height + 20}">\n'
        f'<rect x="0" y="0" width="{width}" height="{height}" fill="none" stroke="gray"/>\n'
        f'<polyline points="{points}" fill="none" stroke="steelblue" stroke-width="2"/>\n'
        f'<text x="8" y="20">loss of each epoch, from {losses[0]:.3f} to {losses[-1]:.4f}</text>\n'
        "</svg>\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=1438, help="images to train with")
    parser.add_argument("--steps", type=int, default=30, help="epochs")
    parser.add_argument("--out", help="save the losses, and print no time")
    parser.add_argument("--plot", help="write the learning curve to this SVG file")
    options = parser.parse_args()

    images, labels, test_images, test_labels = load()
    images, labels = images[:options.size], labels[:options.size]
    random = hd.random.Generator(7)
    weights = initial(1)
    momentum = weights.map(hd.zeros_like)
    batches = images.shape[0] // BATCH
    losses, began, steps = [], None, 0
    for epoch in range(options.steps):
        order = random.permutation(images.shape[0])
        rate = 0.05 * 0.93 ** epoch
        total = 0.0
        for k in range(batches):
            chosen = order[k * BATCH:(k + 1) * BATCH]
            weights, momentum, loss = step(weights, momentum, images[chosen], labels[chosen], rate)
            total = total + loss
        losses.append((total / batches).item())
        if epoch == 0:
            began = time.perf_counter()
        else:
            steps += batches
    hd.synchronize()
    took = time.perf_counter() - began
    right = (classify(weights, test_images) == test_labels).sum().item()
    print(f"loss {losses[0]:.3f} in the first epoch, {losses[-1]:.4f} in epoch {len(losses)}")
    print(f"{right} of {len(test_labels)} held-out digits right: {100 * right / len(test_labels):.1f}%")
    if options.out:
        hd.save(options.out, hd.asarray(losses))
    elif steps:
        print(f"{1e3 * took / steps:.2f} ms a step of {BATCH} images")
    if options.plot:
        plot(options.plot, losses)


if __name__ == "__main__":
    main()
