"""Propose, gate, execute, confirm, reconcile: what Razviel does and how it knows it happened."""
