"""A small training loop with Torch7's plain tensors: a network of two layers learns which of two spirals a point is on.

There is no library of layers here: the gradients are written down, as one did with plain tensors. Torch7's stream of
random numbers makes every run the same.
"""

import math

from strided import torch7 as torch

POINTS, HIDDEN, STEPS, RATE = 200, 32, 200, 2.0


def spirals(count):
    """Points on two spirals, and the number of the spiral: 0 or 1."""
    angle = torch.rand(count).sqrt().mul(3 * math.pi)
    label = torch.range(1, count).remainder(2)
    turned = torch.add(angle, math.pi, label)
    points = torch.Tensor(count, 2)
    points[[], 1] = torch.cmul(angle, torch.cos(turned))
    points[[], 2] = torch.cmul(angle, torch.sin(turned))
    return points.div(10).add(torch.randn(count, 2).mul(0.02)), label


class Layer:
    """A linear layer: weights, biases, and their gradients."""

    def __init__(self, inputs, outputs):
        self.weight = torch.randn(outputs, inputs).mul(1 / math.sqrt(inputs))
        self.bias = torch.zeros(outputs)
        self.output = torch.Tensor()

    def forward(self, x):
        self.input = x
        self.output.resize(x.size(1), self.bias.size(1))
        self.output.copy(self.bias.view(1, -1).expandAs(self.output))
        return self.output.addmm(x, self.weight.t())

    def backward(self, gradient, rate):
        """Takes a step against the gradient, and returns the gradient of the input."""
        back = torch.mm(gradient, self.weight)
        self.weight.addmm(-rate, gradient.t(), self.input)
        self.bias.add(-rate, gradient.sum(1).view(-1))
        return back


def main():
    torch.manualSeed(7)
    points, label = spirals(POINTS)
    # Each point also enters with its waves, since a spiral is no line.
    features = torch.cat([points, torch.mul(points, 8).sin(), torch.mul(points, 8).cos()], 2)
    first, second = Layer(features.size(2), HIDDEN), Layer(HIDDEN, 1)
    for step in range(1, STEPS + 1):
        hidden = torch.tanh(first.forward(features))
        guess = torch.sigmoid(second.forward(hidden)).view(-1)
        error = torch.add(guess, -1, label)
        gradient = second.backward(torch.div(error, POINTS).view(-1, 1), RATE)
        first.backward(gradient.cmul(torch.cmul(hidden, hidden).mul(-1).add(1)), RATE)
        if step % 50 == 0:
            right = guess.gt(0.5).double().eq(label).sum()
            print(f"step {step}: {right} of {POINTS} points, mean error {torch.abs(error).mean():.3f}")
    assert right >= 0.95 * POINTS


if __name__ == "__main__":
    main()
