"""What people do in the Console: their seats, what stands before them, and their words on it.

`seats` says who may do what; `asks`, `holds` and `endings` read what stands before a person;
`deeds` takes their word to the services; `proposing` is the form that a wish is tried and made
with; `versions` reads the brand's policy. The pages themselves are `intent_page` and `ticket_page`.
"""
