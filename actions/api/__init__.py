"""The endpoints of intents, and of tickets as they read with their intents and outcomes.

Promises: a proposal is answered with its intent, new or standing, and with what may honestly be
said of it; *already processed* is said only of a confirmed one.
Does not know the gate, workers or platforms: it calls the services and reads the rows.
"""
