"""The classes of tensors and storages, and the methods that are not rows."""
