"""What ends a command early."""


class Failure(Exception):
    """Ends the command with a sentence for its user on standard error, and exit code 2.

    >>> raise Failure("there is no tensor 'w' in the file")
    Traceback (most recent call last):
        ...
    strided.cli._failure.Failure: there is no tensor 'w' in the file
    """
