"""The functions that are declared as rows: name, forms of arguments, operation of the core, document."""
