"""The commands, one module each: `arguments` adds the arguments, `run` runs it, and `EXAMPLES` are those of its help."""
