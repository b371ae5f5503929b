"""One folder a platform; only `integrations.registry` imports them."""
