"""Tables, and a page."""
