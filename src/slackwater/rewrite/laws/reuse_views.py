"""Answer a query from a registered view with the same stream, grouping and window (CSQL, query 4).

The query's frequency must be an integer multiple of the view's: every m-th row of the view is every (n*m)-th row of the
query, and the boundaries of SLIDE m*s are among those of SLIDE s.
"""

from __future__ import annotations

from dataclasses import replace

from slackwater.algebra.catalog import ViewDef
from slackwater.algebra.expressions import Tree, column_node, is_aggregate, parse_expr, text
from slackwater.algebra.lengths import Length
from slackwater.algebra.nodes import Emit, Frequency, Item, Mode, Plan, Project, Subquery, View, Window
from slackwater.algebra.properties.instants import instants_of
from slackwater.algebra.schema import Expr
from slackwater.rewrite.blocks import Block
from slackwater.rewrite.change import Context, Replacement
from slackwater.rewrite.laws.distribute_frequencies import at_boundaries, is_synchronised


def reuse_views(plan: Plan, context: Context) -> Replacement | None:
    """Answer a query or a subquery from the first view that can.

    Queries with sync rows or changelogs stay unchanged.
    """
    match plan:
        case Emit(child=Project() as query, mode=Mode.FINAL, sync=False):
            answer = _answer(query, context)
            return Replacement(replace(plan, child=answer[0]), answer[1]) if answer else None
        case Subquery(query=Project() as query) if context.final:
            answer = _answer(query, context)
            return Replacement(replace(plan, query=answer[0]), answer[1]) if answer else None
    return None


def _answer(query: Project, context: Context) -> tuple[Plan, str] | None:
    asked = Block.of(query) if context.views else None
    for view in context.views if asked else ():
        inside = view.query.child if isinstance(view.query, Emit) else view.query
        known = Block.of(inside)
        if asked is None or known is None or not asked.reads_like(known):
            continue
        items = tuple(_from_view(item, known) for item in asked.items)
        source = _source(asked, known, View(view.name, view.name, inside, view.key))
        if source is not None and None not in items:
            return Project(source, tuple(item for item in items if item)), _why(view, source)
    return None


def _source(asked: Block, known: Block, view: View) -> Plan | None:
    """Return the plan over the view that yields the requested rows, or None."""
    if asked.body == known.body:
        return _every(asked, known, view)
    if asked.frequency or known.frequency:
        return None
    return _boundaries(asked, known, view) or _instants(asked, known, view)


def _every(asked: Block, known: Block, view: View) -> Plan | None:
    """Return the view at the requested result frequency: its own, or a multiple of it."""
    mine, other = asked.frequency, known.frequency
    if mine is None or mine.strict or (other and other.strict):
        return view if mine == other else None
    by = tuple(item.name for column in asked.by for item in known.items if item.expr.sql == column.sql)
    if len(by) < len(asked.by):
        return None
    if other is None:
        return Frequency(view, mine.every, by)
    alike = mine.every.kind is other.every.kind and {each.sql for each in asked.by} == {each.sql for each in known.by}
    times, rest = divmod(mine.every.amount, other.every.amount)
    if not alike or rest:
        return None
    left = mine.every if mine.every.is_time else Length(times, mine.every.kind)
    return view if times == 1 else Frequency(view, left, by)


def _boundaries(asked: Block, known: Block, view: View) -> Plan | None:
    """Return every m-th boundary of the view: a window that holds only the rows emitted at that boundary."""
    slide, every = instants_of(known.body).every, instants_of(asked.body).every
    if not (slide.is_time and every.is_time) or every.amount % slide.amount or not is_synchronised(known.body, slide):
        return None
    return Window(view, slide, every) if at_boundaries(known.body, slide, every) == asked.body else None


def _instants(asked: Block, known: Block, view: View) -> Plan | None:
    """Return every m-th jump of the view's window, if each jump yields one row."""
    if not (isinstance(asked.body, Window) and isinstance(known.body, Window) and known.one_row_per_instant()):
        return None
    every, other = asked.body.every, known.body.every
    if every.is_time or other.is_time or every.amount % other.amount:
        return None
    columns = {item.expr.sql: item.name for item in known.items}
    by = tuple(columns[column] for column in asked.body.by if column in columns)
    if replace(known.body, every=every) != asked.body or len(by) < len(asked.body.by):
        return None
    return Frequency(view, Length(every.amount // other.amount, every.kind), by)


def _from_view(item: Item, known: Block) -> Item | None:
    """Return a select item over the columns of the view, or None if the view lacks a column that it reads."""
    columns = {text(parse_expr(each.expr.sql)): each.name for each in known.items}
    missing = False

    def swap(node: Tree) -> Tree:
        nonlocal missing
        if (name := columns.get(text(node))) is not None:
            return column_node(name)
        missing = missing or is_aggregate(node) or node.key == "column"
        return node

    tree = parse_expr(item.expr.sql).copy().transform(swap)
    return None if missing else Item(item.name, Expr(text(tree), item.expr.type))


def _why(view: ViewDef, source: Plan) -> str:
    match source:
        case Frequency(every=every):
            return f"the view {view.name} has these rows, of which every {every} is asked for"
        case Window(every=every):
            return f"the view {view.name} has these rows at more boundaries than every {every}"
        case _:
            return f"the view {view.name} has these rows"
