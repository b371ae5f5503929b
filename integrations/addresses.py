"""Where we may connect to: names of shops, base URLs of platforms, the addresses behind them.

Promises: without the operator's leave (`allow_private`) only https to the shop's own host, and
only addresses of the public internet. With it, other hosts, http, loopback and private networks;
never link-local, where cloud metadata lives.
Pure: resolves nothing and connects to nothing. Whoever connects asks `forbidden` about the very
address that it dials.
"""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

_SHOP = re.compile(r"[a-z0-9][a-z0-9-]{0,59}\.myshopify\.com")
_BASE_PATH = re.compile(r"(?:/[A-Za-z0-9._-]+)*")
_DEFAULT_PORTS = {"http": 80, "https": 443}

# Special-purpose blocks, as registered: not globally reachable, deprecated, or a way to embed
# another address. https://www.iana.org/assignments/iana-ipv4-special-registry (from memory of the
# registry, 2026-11-30)
_NOT_PUBLIC_V4 = tuple(
    ip_network(block)
    for block in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",
        "169.254.0.0/16",  # link-local: cloud metadata
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",
    )
)
# https://www.iana.org/assignments/iana-ipv6-special-registry (from memory of the registry,
# 2026-11-30). Only 2000::/3 is global unicast, so mapped (::ffff:0:0/96), NAT64 (64:ff9b::/96),
# ULA, link-local and multicast are outside to begin with.
_GLOBAL_V6 = ip_network("2000::/3")
_NOT_PUBLIC_V6 = tuple(
    ip_network(block)
    for block in (
        "2001::/23",  # Teredo, ORCHID, benchmarking
        "2001:db8::/32",
        "2002::/16",  # 6to4 embeds an IPv4 address
        "2620:4f:8000::/48",
        "3fff::/20",
    )
)
_PRIVATE_BY_LEAVE = tuple(
    ip_network(block)
    for block in (
        "10.0.0.0/8",
        "127.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "::1/128",
        "fc00::/7",
    )
)


class BadAddress(ValueError):
    """No credential may go to this shop name or base URL; the message says which rule it breaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformUrl:
    """A base URL that has passed the rules; as text it has no slash at its end."""

    scheme: str
    host: str
    port: int
    path: str

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = self.port == _DEFAULT_PORTS[self.scheme]
        return f"{self.scheme}://{host}{'' if usual else f':{self.port}'}{self.path}"


def shop_name(text: str) -> str:
    """Return the shop's permanent name, e.g. `acme.myshopify.com`.

    Raises:
        BadAddress: It is anything else; there is no trimming, no lower-casing and no guessing.
    """
    if _SHOP.fullmatch(text) is None:
        raise BadAddress(
            "A shop is named as NAME.myshopify.com: lower-case letters, digits, hyphens."
        )
    return text


def platform_url(text: str, *, shop: str, allow_private: bool) -> PlatformUrl:
    """Return the base URL under which a shop is called.

    Args:
        text: The URL as given; empty for the shop's own.
        shop: The shop's name; checked here too.
        allow_private: The operator's leave (RAZVIEL_ALLOW_PRIVATE_PLATFORMS) for http and for
            other hosts.

    Raises:
        BadAddress: The URL breaks a rule.
    """
    host = shop_name(shop)
    parts = _split(text or f"https://{host}")
    if not allow_private and (parts.scheme, parts.hostname, parts.path) != ("https", host, ""):
        raise BadAddress(
            "Only https and the shop's own host, unless private platforms are allowed."
        )
    return _checked(parts, allow_private=allow_private)


def forbidden(address: str, *, allow_private: bool) -> bool:
    """Return whether an IP address must not be dialled; what is no IP address must not."""
    try:
        ip = ip_address(address)
    except ValueError:
        return True
    if allow_private and any(ip in block for block in _PRIVATE_BY_LEAVE):
        return False
    return not _is_public(ip)


def _is_public(ip: IPv4Address | IPv6Address) -> bool:
    if isinstance(ip, IPv4Address):
        return not any(ip in block for block in _NOT_PUBLIC_V4)
    if ip.scope_id is not None:
        return False
    return ip in _GLOBAL_V6 and not any(ip in block for block in _NOT_PUBLIC_V6)


def _split(text: str) -> SplitResult:
    # urlsplit strips tabs and newlines, and other parsers read backslashes as slashes: refuse what
    # two readers could understand differently, rather than decide which of them is right.
    if not text.isascii() or re.search(r"[\s\\%@?#]|[^\x21-\x7e]", text):
        raise BadAddress(
            "A base URL holds no user, query, fragment, escape, blank or non-ASCII letter."
        )
    try:
        parts = urlsplit(text.removesuffix("/"))
        usable = bool(parts.hostname) and parts.scheme in _DEFAULT_PORTS and parts.port != 0
    except ValueError:
        raise BadAddress("The base URL can't be read.") from None
    if not usable:
        raise BadAddress("A base URL starts with https:// and names a host.")
    return parts


def _checked(parts: SplitResult, *, allow_private: bool) -> PlatformUrl:
    port = parts.port or _DEFAULT_PORTS[parts.scheme]
    if not allow_private and port != _DEFAULT_PORTS["https"]:
        raise BadAddress("Only the usual port, unless private platforms are allowed.")
    if _BASE_PATH.fullmatch(parts.path) is None or ".." in parts.path:
        raise BadAddress("The path of a base URL is plain segments.")
    return PlatformUrl(scheme=parts.scheme, host=parts.hostname or "", port=port, path=parts.path)
