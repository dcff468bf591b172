"""Faces for code bases that were written for other libraries: they move by changing an import."""
