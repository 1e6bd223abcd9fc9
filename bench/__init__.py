"""Measurements of the hot paths; `make bench` prints them."""
