"""The outside: connections, ports, adapters, sealed data, webhook inbox and the sandbox."""
