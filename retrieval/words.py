"""Function words, by language. Used to leave them out of the index and to tell which language a question is in."""

from __future__ import annotations

import re

ENGLISH = frozenset(
    """a an the this that these those some any each every all both either neither such same other
    i me my mine myself we us our ours you your yours he him his she her hers it its they them their theirs
    who whom whose which what when where why how
    am is are was were be been being do does did doing done have has had having can could may might must shall should
    will would ought
    and or but nor so yet if then else than because as while of at by for with about against between into through
    during before after above below to from up down in out on off over under again further once here there
    also just only very too not no own more most much many per via upon within without
    please tell give show let get got""".split()
)

NUMBER_WORDS = {
    w: n for n, w in enumerate("two three four five six seven eight nine ten eleven twelve".split(), start=2)
}
"""English numerals. "one" is none: it stands for a thing as often as for a count."""

_BY_LANGUAGE = {
    "en": ENGLISH,
    "de": frozenset(
        """der die das den dem des ein eine einen einem einer und oder aber nicht ist sind war waren wird werden wie
        was wer wo wann warum welche welcher welches für von mit auf aus bei nach über unter zu zum zur im am ich wir
        sie es kein keine wieviel viele hat haben kann darf muss""".split()
    ),
    "fr": frozenset(
        """le la les un une des du de et ou mais ne pas est sont était qui que quoi quel quelle quels quelles où quand
        comment pourquoi combien pour avec sur dans par au aux ce cette ces il elle nous vous ils je on à reçoit""".split()
    ),
    "es": frozenset(
        """el la los las un una unos unas y o pero no es son era qué que quién cuál cuáles dónde cuándo cómo cuánto
        cuánta cuántos cuántas por para con en de del al se su este esta estos lo cada""".split()
    ),
    "it": frozenset(
        """il lo gli i un una e o ma non è sono che chi quale quali dove quando come perché quanto quanti per con su di
        del della nel nella al si questo questa""".split()
    ),
    "pt": frozenset(
        """o os um uma e ou mas não é são que quem qual quais onde quando como quanto quantos por para com em de do da
        no na ao se este esta""".split()
    ),
    "nl": frozenset(
        "de het een en of maar niet is zijn was wie wat welke waar wanneer hoe waarom hoeveel voor van met op aan bij".split()
    ),
    "sv": frozenset(
        "en ett och eller men inte är var som vem vad vilken vilka var när hur varför för av med på till från".split()
    ),
}

STOP_WORDS = ENGLISH

_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
)


def function_words(language: str) -> frozenset[str]:
    """The function words of a language, empty where none are listed."""
    return _BY_LANGUAGE.get(language, frozenset())


def language_of(text: str) -> str:
    """ISO 639-1 code of a text's language, by script, then by its function words; English where nothing decides."""
    for code, script in _SCRIPTS:
        if script.search(text):
            return code
    words = re.findall(r"[^\W\d_]+", text.casefold())
    votes = {code: sum(w in known for w in words) for code, known in _BY_LANGUAGE.items()}
    best = max(votes, key=lambda code: votes[code])
    return best if votes[best] > votes["en"] else "en"
