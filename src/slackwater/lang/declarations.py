"""Turn statements into declarations, in order: a statement may use only names declared before it."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from slackwater.algebra.catalog import (
    KAFKA_COLUMNS,
    Aspect,
    Catalog,
    Explain,
    Pipeline,
    Script,
    SinkDef,
    StreamDef,
    ViewDef,
    check_clock,
    check_name,
    check_setting,
)
from slackwater.algebra.expressions import spark_type
from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import Field, Schema
from slackwater.algebra.sides import with_sides
from slackwater.errors import QueryError
from slackwater.lang.binder import Binder
from slackwater.lang.parsing import syntax
from slackwater.lang.parsing.source_text import SourceText
from slackwater.lang.scope import Scope


class ScriptReader:
    """Collects the declarations of statements, one by one. Each may use the names declared before it."""

    def __init__(self, source: SourceText, catalog: Catalog) -> None:
        self.source = source
        self.catalog = catalog
        self.result = Script()

    def read(self, statement: syntax.Statement) -> None:
        match statement:
            case syntax.CreateStream(name=name):
                stream = self._stream(statement)
                with self.source.blaming(name):
                    self.catalog = self.catalog.with_stream(stream)
                self.result = replace(self.result, streams=(*self.result.streams, stream))
            case syntax.CreateView(name=name, query=query):
                view = self._view(statement)
                with self.source.blaming(name):
                    self.catalog = self.catalog.with_view(view)
                self.result = replace(self.result, views=(*self.result.views, view))
            case syntax.CreateSink(name=name, format=format_, options=options):
                sink = SinkDef(name.name, format_, dict(options))
                with self.source.blaming(name):
                    self.catalog = self.catalog.with_sink(sink)
                self.result = replace(self.result, sinks=(*self.result.sinks, sink))
            case syntax.Insert(sink=name, query=query):
                with self.source.blaming(name):
                    target = self.catalog.sink(name.name)
                self._pipeline(Pipeline(target.name, target, self._bound(query)), name)
            case syntax.QueryStatement(query=query):
                count = sum(each.sink is None for each in self.result.pipelines)
                self._pipeline(Pipeline(f"query{count + 1}" if count else "query", None, self._bound(query)), query)
            case syntax.ExplainStatement(what=what, query=query):
                explain = Explain(Aspect(what), self._bound(query))
                self.result = replace(self.result, explains=(*self.result.explains, explain))
            case syntax.Setting(name=key, value=value, span=span):
                with self.source.blaming(span):
                    self.result = replace(self.result, settings={**self.result.settings, check_setting(key): value})

    def _bound(self, query: exp.Expr) -> Plan:
        return Binder(self.source, self.catalog).root(query)

    def _pipeline(self, pipeline: Pipeline, blamed: exp.Expr) -> None:
        if any(each.name.lower() == pipeline.name.lower() for each in self.result.pipelines):
            raise QueryError(
                "SW-207", f"a pipeline writes to '{pipeline.name}' already", expected="one INSERT INTO for each sink",
                hint="join the queries with UNION ALL, or declare another sink", place=self.source.place_of(blamed),
            )  # fmt: skip
        self.result = replace(self.result, pipelines=(*self.result.pipelines, pipeline))
        self.catalog = with_sides(self.catalog, pipeline)

    def _stream(self, statement: syntax.CreateStream) -> StreamDef:
        fields: list[Field] = []
        seen: set[str] = set()
        for column in statement.columns:
            with self.source.blaming(column.span):
                kind = spark_type(column.type)
            with self.source.blaming(column.name):
                check_name(column.name.name)
            if column.name.name.lower() in seen:
                raise QueryError(
                    "SW-206", f"two columns are named '{column.name.name}'", expected="a name for each column",
                    hint="rename one of them", place=self.source.place_of(column.name),
                )  # fmt: skip
            seen.add(column.name.name.lower())
            fields.append(Field(column.name.name, kind))
        schema = Schema((*fields, *_metadata(statement, seen)))
        roles = {role: self._role(role, column, schema) for role, column in statement.roles.items()}
        return StreamDef(
            statement.name.name, schema.fields, statement.format, dict(statement.options), roles.get("TIMESTAMP"),
            roles.get("ARRIVAL"), roles.get("SOURCE"), roles.get("CHANGELOG"),
            tuple(self._column(column, schema) for column in statement.key),
        )  # fmt: skip

    def _role(self, role: str, column: exp.Identifier, schema: Schema) -> str:
        with self.source.blaming(column):
            if role in ("TIMESTAMP", "ARRIVAL"):
                return check_clock(column.name, schema, "an event time" if role == "TIMESTAMP" else "an arrival time")
        return self._column(column, schema)

    def _column(self, column: exp.Identifier, schema: Schema) -> str:
        with self.source.blaming(column):
            return schema.find(column.name).name

    def _view(self, statement: syntax.CreateView) -> ViewDef:
        query = self._bound(statement.query)
        scope = Scope(self.source, schema_of(query), {})
        key = tuple(scope.expression(tree, "a primary key") for tree in statement.key)
        return ViewDef(statement.name.name, key, query)


def _metadata(statement: syntax.CreateStream, declared: set[str]) -> list[Field]:
    """Return Kafka's metadata columns that a stream names as clock or sender without declaring them."""
    if statement.format.lower() != "kafka":
        return []
    named = {column.name.lower() for column in statement.roles.values()} - declared
    return [Field(name, kind) for name, kind in KAFKA_COLUMNS.items() if name in named]
