"""The one exception for input that a user can mend."""


class InputError(ValueError):
    """A value from outside that cannot be used; the message names it and says what is allowed.

    Raised where the value is first seen, caught once at the entry point and printed as one line.
    Any other exception is a bug and keeps its traceback.
    """
