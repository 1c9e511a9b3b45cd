"""What the front ends `torch7` and `dmlab` share: classes, sessions, casts, tables, and writes in row-major order."""
