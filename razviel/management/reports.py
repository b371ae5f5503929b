"""Where a command writes its report: checked before the work, not after it.

Promises: a file that can't be written is refused in one sentence while the arguments are read.
Does not know what the report says.
"""

import os
from argparse import ArgumentTypeError
from pathlib import Path


def writable(text: str) -> Path:
    """Read the name of a file to write, as an argument's type.

    Raises:
        ArgumentTypeError: Its folder is missing or closed, or it is a folder itself.
    """
    file = Path(text)
    folder = file.absolute().parent
    if file.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ArgumentTypeError(f"{text} can't be written; name a file in a folder that is there")
    return file
