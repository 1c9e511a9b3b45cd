"""What a person looks at: tensors, storages and layouts as text, cards and drawings, and the choices about it.

Loaded on the first `repr`; drawings and explanations are loaded when they are asked for.
"""

from .options import Options, get_printoptions, printoptions, set_printoptions

__all__ = ["Options", "get_printoptions", "printoptions", "set_printoptions"]
