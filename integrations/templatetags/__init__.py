"""Template tags of the Console."""
