"""Calls of functions: arguments and their errors, forms, which form a call means, and where results go."""
