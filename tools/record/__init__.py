"""Makers of data that the package ships."""
