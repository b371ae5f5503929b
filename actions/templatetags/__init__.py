"""Template tags of an intent's timeline."""
