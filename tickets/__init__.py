"""The unified record: ticket, message, request, path, resolver, resolution."""
