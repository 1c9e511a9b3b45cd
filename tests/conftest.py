"""Shared by all tests: hypothesis without deadlines, and fixtures that restore defaults."""

import gc

import pytest
from hypothesis import HealthCheck, settings

import strided as st

settings.register_profile("strided", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("strided")


@pytest.fixture
def default_dtype():
    """A test that uses this may change the default dtype; it is restored afterwards."""
    before = st.get_default_dtype()
    yield
    st.set_default_dtype(before)


def pytest_collection_finish():
    """Thousands of collected tests are a large heap: exclude it from the garbage collections of tests."""
    gc.collect()
    gc.freeze()
