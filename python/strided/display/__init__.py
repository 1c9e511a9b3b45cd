"""What a person looks at: tensors and storages as text, and the choices about it. Loaded on the first `repr`."""

from .options import Options, get_printoptions, printoptions, set_printoptions

__all__ = ["Options", "get_printoptions", "printoptions", "set_printoptions"]
