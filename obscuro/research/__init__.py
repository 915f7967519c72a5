"""The papers' other systems and the small games that prove the search. The engine never imports it."""
