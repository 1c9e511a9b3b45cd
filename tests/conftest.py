"""What all tests share: hypothesis without a clock, and defaults that no test leaves changed."""

import gc

import pytest
from hypothesis import HealthCheck, settings

import strided as st

settings.register_profile("strided", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("strided")


@pytest.fixture
def default_dtype():
    """A test that asks for this may change the default dtype."""
    before = st.get_default_dtype()
    yield
    st.set_default_dtype(before)


def pytest_collection_finish():
    """Thousands of tests are a large heap, which every test that collects garbage would walk: leave them out."""
    gc.collect()
    gc.freeze()
