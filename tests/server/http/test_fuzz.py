"""The described interface against what it does: any request the description allows gets an answer it describes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.server.conftest import serving

schemathesis = pytest.importorskip("schemathesis")


@pytest.fixture(scope="module")
def operations() -> Iterator[list[Any]]:
    with serving() as address:
        schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
        found = [each.ok() for each in schema.get_all_operations()]
        # An open-ended stream has no answer to wait for; the first token would shut everybody else out.
        left_out = {("get", "/v1/subscribers/{id}/events"), ("post", "/v1/tokens")}
        yield [o for o in found if (o.method, o.path) not in left_out]


@settings(
    max_examples=4 * settings().max_examples, suppress_health_check=list(HealthCheck), derandomize=True, deadline=None
)
@given(data=st.data())
def test_no_request_makes_the_broker_stumble(operations: list[Any], data: st.DataObject) -> None:
    """No server error, and every status that is answered is described."""
    operation = data.draw(st.sampled_from(operations), label="operation")
    case = data.draw(operation.as_strategy(), label="case")
    response = case.call(timeout=60)
    described = operation.definition.raw["responses"]
    assert str(response.status_code) in described, f"{response.status_code}: {response.text[:300]}"
