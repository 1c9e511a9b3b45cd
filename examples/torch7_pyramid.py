"""An image pyramid with Torch7's tensors: each level is half as large, blurred before it is sampled.

The picture is made here: a bright disc on a dark ground. A level is computed with windows (`unfold`), which use no
memory, and with `conv2`; both give the same numbers. The last lines show the levels as text.
"""

from strided import torch7 as torch

SIZE = 32
LEVELS = 4
SHADES = " .:-=+*#%@"


def disc(size):
    """A bright disc on a dark ground, with soft edges."""
    line = torch.range(1, size).add(-(size + 1) / 2).div(size / 2)
    x = line.view(1, size).expand(size, size)
    y = line.view(size, 1).expand(size, size)
    distance = torch.cmul(x, x).add(torch.cmul(y, y)).sqrt()
    return distance.mul(-8).add(5).clamp(0, 1)


def binomial():
    """The 4x4 kernel whose rows and columns are 1 3 3 1, divided by their sum."""
    line = torch.Tensor([1, 3, 3, 1])
    return torch.ger(line, line).div(64)


def padded(image):
    """The image with its border repeated once on each side."""
    rows, columns = image.size(1), image.size(2)
    larger = torch.Tensor(rows + 2, columns + 2)
    larger[[2, rows + 1], [2, columns + 1]] = image
    larger[1], larger[rows + 2] = larger[2].clone(), larger[rows + 1].clone()
    larger[[], 1], larger[[], columns + 2] = larger[[], 2].clone(), larger[[], columns + 1].clone()
    return larger


def half(image):
    """The next level: every window of 4x4, two apart, weighted by the kernel."""
    windows = padded(image).unfold(1, 4, 2).unfold(2, 4, 2)
    rows, columns = windows.size(1), windows.size(2)
    weighted = windows.contiguous().view(rows * columns, 16) * binomial().view(16)
    return weighted.view(rows, columns)


def half_by_convolution(image):
    """The same with `conv2`: the kernel is symmetric, so that it does not matter that it is turned."""
    blurred = torch.conv2(padded(image), binomial())
    every_other = torch.range(1, blurred.size(1), 2).long()
    return blurred.index(1, every_other).index(2, every_other)


def show(image):
    """The image as lines of text, bright elements as dense characters."""
    shades = torch.mul(image, len(SHADES) - 1).add(0.5).floor()
    for row in shades:
        print("".join(SHADES[int(shade)] * 2 for shade in row))


def main():
    pyramid = [disc(SIZE)]
    while len(pyramid) < LEVELS:
        image = pyramid[-1]
        smaller = half(image)
        assert torch.add(smaller, -1, half_by_convolution(image)).abs().max() < 1e-12
        pyramid.append(smaller)
    for image in pyramid:
        print(f"{image.size(1)}x{image.size(2)}, mean {image.mean():.3f}")
        if image.size(1) <= 16:
            show(image)


if __name__ == "__main__":
    main()
