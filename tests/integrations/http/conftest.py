import pytest

from tests.integrations.http.calls import SHOP
from tests.integrations.http.certificates import Certificate, certificate_for


@pytest.fixture(scope="session")
def shops(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """A certificate for the shop that the tests call."""
    return certificate_for(SHOP, tmp_path_factory.mktemp("certificate"))
