"""Promises of likewise.semantics.text.tokenizer."""

from __future__ import annotations

import pickle
import threading

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import InputError
from likewise.semantics.text.tokenizer import Tokenizer, TokenizerSettings

PLAIN = TokenizerSettings(stop_words="none", stemmer="none")
ALL_SETTINGS = [
    TokenizerSettings(),
    PLAIN,
    TokenizerSettings(fold="none", stemmer="none"),
    TokenizerSettings(shortest=2, longest=5, stemmer="german"),
]
# Short alphabets meet each other more often than all of Unicode would.
TEXTS = st.lists(
    st.one_of(
        st.none(),
        st.text(),
        st.text(alphabet="aAbB zZ09_-.\n\x00'éÉßİΣς東は漢हिन्दी\u200b\u200c\u00ad\ufe0f\u0301²½ﬁ"),
        st.text(alphabet=st.characters(max_codepoint=127)),
    ),
    max_size=12,
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("NO2 and CO₂ in room 112", ["no2", "and", "co2", "in", "room", "112"]),
        ("air_temp-f/wind.avg", ["air", "temp", "f", "wind", "avg"]),
        ("m² ½ ﬁve", ["m2", "1", "2", "five"]),
        ("Žena Łódź ΌΔΟΣ Москва", ["žena", "łódź", "όδοσ", "москва"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("東京タワー", ["東", "京", "タワー"]),
        ("co\u00adop ER\u200dA zero\u200bwidth", ["coop", "era", "zero", "width"]),
        ("☕\ufe0f \u0301 \u0301x", ["x"]),
        ("", []),
        (" \t\n—…", []),
        ("\ud800lone", ["lone"]),
    ],
)
def test_words_of_any_alphabet_are_cut_with_their_digits_and_marks(text: str, tokens: list[str]) -> None:
    """Letters, digits and marks make tokens; everything else separates."""
    assert Tokenizer(PLAIN).tokens(text) == tokens


def test_stop_words_go_before_stemming_and_stems_come_out() -> None:
    """`being` is a stop word and goes; `beings` is none and is stemmed to `be`."""
    assert Tokenizer().tokens("being human beings") == ["human", "be"]


def test_length_limits_count_characters_before_stemming() -> None:
    """A token outside the limits is dropped, whatever its stem."""
    chosen = TokenizerSettings(stop_words="none", stemmer="none", shortest=2, longest=4)
    assert Tokenizer(chosen).tokens("a ab éé abcd abcde") == ["ab", "éé", "abcd"]


@pytest.mark.parametrize("chosen", ALL_SETTINGS)
@settings(deadline=None)  # the first example loads Arrow
@given(texts=TEXTS)
def test_arrays_give_the_same_tokens_as_single_texts(chosen: TokenizerSettings, texts: list[str | None]) -> None:
    """The batch form equals the single form for every text, and its terms are distinct and all used."""
    tokenizer = Tokenizer(chosen)
    texts = [t if t is None else t.encode("utf-8", "ignore").decode() for t in texts]
    encoded = tokenizer.encode(pa.array(texts, pa.string()))
    assert [encoded.tokens(i) for i in range(len(texts))] == [tokenizer.tokens(t or "") for t in texts]
    assert len(encoded.terms) == len(set(encoded.terms.to_pylist()))
    assert set(encoded.codes.tolist()) == set(range(len(encoded.terms)))


def test_a_slice_of_an_array_is_read_as_the_slice() -> None:
    """Offsets of a sliced Arrow array are respected."""
    texts = pa.array(["one", "two words", "élan vital", None, "five"]).slice(1, 3)
    encoded = Tokenizer(PLAIN).encode(texts)
    assert [encoded.tokens(i) for i in range(3)] == [["two", "words"], ["élan", "vital"], []]


def test_settings_survive_json_and_pickling() -> None:
    """A space's manifest and a Spark worker rebuild the same settings."""
    chosen = TokenizerSettings(stemmer="french", shortest=3)
    assert msgspec.json.decode(msgspec.json.encode(chosen), type=TokenizerSettings) == chosen
    assert pickle.loads(pickle.dumps(chosen)) == chosen


@pytest.mark.parametrize("chosen", [TokenizerSettings(stop_words="klingon"), TokenizerSettings(stemmer="klingon")])
def test_unknown_lists_and_stemmers_are_refused_with_those_there_are(chosen: TokenizerSettings) -> None:
    """The message names what could have been chosen."""
    with pytest.raises(InputError, match=r"klingon.*(none|english)"):
        Tokenizer(chosen)


def test_threads_share_a_tokenizer() -> None:
    """Each thread stems for itself, so results never mix."""
    tokenizer = Tokenizer()
    words = [f"running{i} jumps sensors" for i in range(300)]
    expected = [tokenizer.tokens(w) for w in words]
    found: list[list[list[str]]] = []
    threads = [threading.Thread(target=lambda: found.append([tokenizer.tokens(w) for w in words])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
