"""One shop as our app may call it: where it is, and with which token.

Promises: the token is in no repr and in no error.
Does not know where the token is kept, or what it may do.
"""

import re
from dataclasses import dataclass, field

from integrations.addresses import PlatformUrl, platform_url

_TOKEN = re.compile(r"[\x21-\x7e]{1,512}")


class BadToken(ValueError):
    """The access token can't be one: it is empty, or holds blanks or letters outside ASCII."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopifyAccount:
    """A shop's name, address and access token.

    Raises:
        BadAddress: The shop or the base URL breaks a rule of `integrations.addresses`.
        BadToken: The token can't stand in a header.
    """

    shop: str
    base_url: str
    """Empty for the shop's own address."""
    access_token: str = field(repr=False)
    allow_private: bool

    def __post_init__(self) -> None:
        if _TOKEN.fullmatch(self.access_token) is None:
            raise BadToken
        self.base()

    def base(self) -> PlatformUrl:
        """Return the checked address that everything is called under."""
        return platform_url(self.base_url, shop=self.shop, allow_private=self.allow_private)
