"""What holds for every test."""

from hypothesis import settings

# A slow machine is no fault of the code: an example may take as long as it needs.
settings.register_profile("stanchion", deadline=None)
settings.load_profile("stanchion")
