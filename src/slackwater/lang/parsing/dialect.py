"""The sqlglot dialect: Spark SQL with this language's brackets, statements and EMIT."""

from __future__ import annotations

from typing import ClassVar

from sqlglot.dialects.spark import Spark

from slackwater.lang.parsing.base import EMIT, OPEN
from slackwater.lang.parsing.statements import StatementParser


class Slackwater(Spark):
    """Spark's dialect. Words that begin Spark commands are plain words, because every statement is parsed here."""

    class Tokenizer(Spark.Tokenizer):
        COMMANDS: ClassVar = set()
        STRING_ESCAPES: ClassVar = ["\\", "'", '"']  # 'it''s' is one string since Spark 4
        KEYWORDS: ClassVar = {word: kind for word, kind in Spark.Tokenizer.KEYWORDS.items() if kind not in (OPEN, EMIT)}

    Parser = StatementParser  # type: ignore[assignment]
