"""What the generators of a group reveal about it: a family, or a stabiliser chain in a faithful action."""
