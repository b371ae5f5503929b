"""The scenes, each with what is expected and what was seen; a scene holds if the two are equal.

Promises: every scene has an order of its own, so that all can play at once. Later issues add theirs
in a file of the same kind. Does not know how a scene is shown.
"""

from razviel.demo.scenes import people, sending, ways
from razviel.demo.scenes.scene import Scene, Seen
from razviel.demo.scenes.sending import SLOW_GATEWAY

__all__ = ["SCENES", "SLOW_GATEWAY", "Scene", "Seen"]

SCENES: tuple[Scene, ...] = (*sending.SCENES, *people.SCENES, *ways.SCENES)
"""In the order in which they are told."""
