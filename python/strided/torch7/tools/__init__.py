"""What comes with Torch7 besides tensors: tests, command lines, a stopwatch; and text as Lua writes it."""
