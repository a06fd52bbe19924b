import pytest

from retrieval.rubric import top_k_for


@pytest.mark.parametrize(
    ("breadth", "confidence", "configured", "scope", "expected"),
    [
        (0, 0.9, 8, 1000, 4),
        (1, 0.9, 8, 1000, 8),
        (2, 0.9, 8, 1000, 12),
        (3, 0.9, 8, 1000, 20),
        (3, 0.49, 8, 1000, 8),
        (3, 0.9, 40, 1000, 50),
        (0, 0.9, 1, 1000, 1),
        (3, 0.9, 8, 5, 5),
        (3, 0.9, 8, 0, 20),
    ],
)
def test_breadth_scales_and_clamps(breadth: int, confidence: float, configured: int, scope: int, expected: int) -> None:
    assert top_k_for(breadth, confidence, configured, scope) == expected
