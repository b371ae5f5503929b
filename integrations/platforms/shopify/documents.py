"""The documents of `documents.graphql` by operation, and the API version they are written for.

Promises: the version stands here and nowhere else. Each document is one operation, so that what is
frozen and sent is no more than what is asked.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

# Supported for at least 12 months from its release; another version may treat keys in another way.
# https://shopify.dev/docs/api/usage/versioning, as quoted in a stored copy (read 2026-11-30)
API_VERSION = "2026-10"

FILE = Path(__file__).with_name("documents.graphql")
_OPERATION = re.compile(r"^(?:query|mutation) (\w+).*?^}$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One operation."""

    name: str
    text: str


DOCUMENTS = MappingProxyType(
    {
        found[1]: Document(name=found[1], text=found[0])
        for found in _OPERATION.finditer(FILE.read_text(encoding="utf-8"))
    }
)

IDENTIFY = DOCUMENTS["Identify"]
READ_ORDER = DOCUMENTS["ReadOrder"]
READ_AGREEMENTS = DOCUMENTS["ReadAgreements"]
READ_LINES = DOCUMENTS["ReadLines"]
LIST_REFUNDS = DOCUMENTS["ListRefunds"]
READ_REFUNDS = DOCUMENTS["ReadRefunds"]
REFUND_CREATE = DOCUMENTS["RefundCreate"]
