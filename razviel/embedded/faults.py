"""What can keep the embedded servers from starting, each said so that a person can act on it."""


class EmbeddedFault(Exception):
    """The local servers could not be made ready; the message says why and what to do."""


class NoServer(EmbeddedFault):
    """No usable server program was found; set an address or install one."""


class ServerStopped(EmbeddedFault):
    """A server program ended while starting; its last words are in the message."""


class StateTaken(EmbeddedFault):
    """Another Razviel holds this state folder; stop it or name another folder."""


class UnfitRole(EmbeddedFault):
    """The given database address can't serve; give both roles or a superuser."""


class BrokerAway(EmbeddedFault):
    """Nothing answers at the given broker address; start it, correct it, or leave it out."""


class PortTaken(EmbeddedFault):
    """The web process can't listen where it should; set RAZVIEL_BIND to another address."""
