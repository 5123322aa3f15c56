"""Warnings about misspelt options of Spark's file formats: Spark ignores names that it does not know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from slackwater.algebra.catalog import Script, SinkDef, StreamDef
from slackwater.spark.io.mapping import map_columns
from slackwater.spark.options import CHANGELOG

FILES = """
    path basePath pathGlobFilter recursiveFileLookup modifiedBefore modifiedAfter ignoreCorruptFiles
    ignoreMissingFiles maxFilesPerTrigger maxBytesPerTrigger latestFirst maxFileAge fileNameOnly maxCachedFiles
    discardCachedInputRatio cleanSource sourceArchiveDir retention compression mergeSchema
"""
"""The options of every file format, in the order of Spark's guide."""
TEXTS = """
    mode columnNameOfCorruptRecord encoding charset locale timeZone dateFormat timestampFormat
    timestampNTZFormat timeFormat multiLine lineSep samplingRatio inferSchema enableDateTimeParsingFallback
    singleVariantColumn
"""
OWN = {
    "csv": TEXTS
    + """
        sep delimiter header quote escape comment quoteAll escapeQuotes charToEscapeQuoteEscaping nullValue
        emptyValue nanValue positiveInf negativeInf ignoreLeadingWhiteSpace ignoreTrailingWhiteSpace
        enforceSchema preferDate maxColumns codec maxCharsPerColumn unescapedQuoteHandling inputBufferSize
        columnPruning extension
""",
    "json": TEXTS
    + """
        primitivesAsString prefersDecimal allowComments allowUnquotedFieldNames allowSingleQuotes
        allowNumericLeadingZeros allowBackslashEscapingAnyCharacter allowUnquotedControlChars
        allowNonNumericNumbers dropFieldIfAllNull ignoreNullFields inferTimestamp
        writeNonAsciiCharacterAsCodePoint pretty sortKeys explodeEmbeddedArray
""",
    "xml": TEXTS
    + """
        rowTag rootTag declaration attributePrefix valueTag arrayElementName excludeAttribute
        ignoreSurroundingSpaces nullValue ignoreNamespace rowValidationXSDPath wildcardColName validateName
        preferDate prefersDecimal indent useLegacyXMLParser
""",
    "parquet": "datetimeRebaseMode int96RebaseMode parquet.compression",
    "orc": "orc.compress",
    "text": "lineSep wholetext encoding",
    "avro": """
        avroSchema avroSchemaUrl recordName recordNamespace ignoreExtension mode datetimeRebaseMode
        positionalFieldMatching recursiveFieldMaxDepth enableStableIdentifiersForUnionType
        stableIdentifierPrefixForUnionType
""",
}
NEAR = 0.75
"""The similarity (0 to 1) from which a name counts as a misspelling of a known one. Lower: more false warnings."""


def doubts(script: Script) -> Iterator[str]:
    """Yield a warning for each option of a file format that Spark does not know and that is nearly one it knows."""
    for stream in script.streams:
        yield from _doubts(f"the stream '{stream.name}'", stream, map_columns(stream)[1])
    for sink in script.sinks:
        own = [name for name in sink.options if not name.lower().startswith(CHANGELOG)]
        yield from _doubts(f"the sink '{sink.name}'", sink, own)


def _doubts(owner: str, declared: StreamDef | SinkDef, options: Iterable[str]) -> Iterator[str]:
    if declared.format.lower() not in OWN:
        return
    known = {name.lower(): name for name in (FILES + OWN[declared.format.lower()]).split()}
    for name in options:
        near = get_close_matches(name.lower(), known, n=1, cutoff=NEAR)
        if name.lower() not in known and near:
            told = f"{owner} has the option '{name}', which Spark's format {declared.format.lower()} does not know"
            yield f"{told}: did you mean '{known[near[0]]}'?"
