"""Files of Torch7: DiskFile, MemoryFile, and whole objects."""
