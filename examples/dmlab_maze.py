"""A maze and its texture, as a level script of DeepMind Lab makes them: tensors, views and random numbers.

The maze is a ByteTensor of cells, 1 for a wall. It is carved by a random walk that goes back when it is stuck. Then it is
drawn: as text, which is how Lab's maps are written, and as a texture of pixels that is built with views.
"""

from strided import dmlab as lab

WALL, FREE = 1, 0
#: Pixels of the texture for each cell.
PIXELS = 4
STONE, GRASS = [96, 96, 104], [64, 144, 72]


def carve(rows, columns, random):
    """A maze of cells, with walls around it. Cells at even indices are rooms; what is between two rooms may be opened."""
    maze = lab.ByteTensor(2 * rows + 1, 2 * columns + 1).fill(WALL)
    path = [(2, 2)]
    maze(2, 2).val(FREE)
    while path:
        i, j = path[-1]
        ways = lab.Int64Tensor(range=[4]).shuffle(random).val()
        for di, dj in ([(0, 2), (2, 0), (0, -2), (-2, 0)][way - 1] for way in ways):
            inside = 1 < i + di <= 2 * rows and 1 < j + dj <= 2 * columns
            if inside and maze(i + di, j + dj).val() == WALL:
                maze(i + di // 2, j + dj // 2).val(FREE)
                maze(i + di, j + dj).val(FREE)
                path.append((i + di, j + dj))
                break
        else:
            path.pop()
    return maze


def distances(maze, start):
    """How many steps each free cell is away from the start, and -1 for walls."""
    steps = lab.Int32Tensor(*maze.shape()).fill(-1)
    steps(*start).val(0)
    border = [start]
    while border:
        i, j = border.pop(0)
        for cell in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
            if maze(*cell).val() == FREE and steps(*cell).val() < 0:
                steps(*cell).val(steps(i, j).val() + 1)
                border.append(cell)
    return steps


def text(maze, goal):
    """The maze as Lab's maps are written: `*` is a wall, `P` the player, `G` the goal."""
    signs = {(2, 2): "P", goal: "G"}
    rows, columns = maze.shape()
    cells = maze.val()
    return "\n".join(
        "".join(signs.get((i + 1, j + 1), "*" if cells[i][j] else " ") for j in range(columns)) for i in range(rows)
    )


def texture(maze, random):
    """Pixels of the maze, rows x columns x RGB: a colour for each kind of cell, grain, and a dark edge below walls."""
    rows, columns = maze.shape()
    # Two dims for the rows, two for the columns: a cell is a block of pixels.
    pixels = lab.DoubleTensor(rows, PIXELS, columns, PIXELS, 3)
    blocks = pixels.transpose(2, 3)
    # What the function returns is a tensor and no number, so the cells stay as they are.
    maze.applyIndexed(lambda cell, at: blocks(*at).fill(STONE if cell == WALL else GRASS))
    pixels.apply(lambda value: value + random.normalDistribution(0, 6))
    for i in range(1, rows):
        for j in range(1, columns + 1):
            if maze(i, j).val() == WALL and maze(i + 1, j).val() == FREE:
                blocks(i + 1, j, 1).mul(0.6)
    return pixels.round().clamp(0, 255).byte().reshape([rows * PIXELS, columns * PIXELS, 3])


def main(seed):
    random = lab.random
    random.seed(seed)
    maze = carve(5, 12, random)
    steps = distances(maze, (2, 2))
    far = max(max(row) for row in steps.val())
    goal = next((i, row.index(far) + 1) for i, row in enumerate(steps.val(), 1) if far in row)
    print(text(maze, goal))
    print(f"\nThe goal is {far} steps away. The upper left corner of the cells:\n")
    print(maze.narrow(1, 1, 4).narrow(2, 1, 8))
    image = texture(maze, random)
    print(f"\nThe texture has the shape {image.shape()}; its mean colour is", end=" ")
    print([round(image.select(3, channel).sum() / (image.size() / 3)) for channel in (1, 2, 3)])


if __name__ == "__main__":
    main(seed=7)
