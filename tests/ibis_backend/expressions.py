"""Expressions that both backends compute. ``t`` and ``u`` are the tables of data.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ibis
from ibis import _

Make = Callable[[Any, Any], Any]

TEXT: dict[str, Make] = {
    "length": lambda t, u: t.s.length(),
    "upper": lambda t, u: t.s.upper(),
    "lower": lambda t, u: t.s.lower(),
    "reverse": lambda t, u: t.s.reverse(),
    "capitalize": lambda t, u: t.s.capitalize(),
    "strip": lambda t, u: t.s.strip(),
    "lstrip": lambda t, u: t.s.lstrip(),
    "rstrip": lambda t, u: t.s.rstrip(),
    "substr": lambda t, u: t.s.substr(1, 2),
    "substr open": lambda t, u: t.s.substr(1),
    "substr computed": lambda t, u: t.s.substr(t.j - 1, t.j),
    "slice": lambda t, u: t.s[1:3],
    "slice to": lambda t, u: t.s[:2],
    "left": lambda t, u: t.s.left(2),
    "right": lambda t, u: t.s.right(2),
    "lpad": lambda t, u: t.s.lpad(6, "*"),
    "rpad": lambda t, u: t.s.rpad(6, "*"),
    "lpad short": lambda t, u: t.s.lpad(1, "*"),
    "repeat": lambda t, u: t.s.repeat(3),
    "repeat computed": lambda t, u: t.s.repeat(t.j - 1),
    "concat": lambda t, u: t.s + "-" + t.g,
    "join": lambda t, u: ibis.literal(", ").join([t.s, t.g, t.p]),
    "replace": lambda t, u: t.s.replace("a", "bb"),
    "find": lambda t, u: t.s.find("a"),
    "find from": lambda t, u: t.filter(t.s.notnull()).s.find("a", 1),
    "contains": lambda t, u: t.s.contains("a"),
    "contains percent": lambda t, u: t.s.contains("y%"),
    "contains backslash": lambda t, u: t.s.contains("\\"),
    "contains column": lambda t, u: t.s.contains(t.p),
    "startswith": lambda t, u: t.s.startswith("a"),
    "startswith underscore": lambda t, u: t.s.startswith("x_"),
    "startswith column": lambda t, u: t.s.startswith(t.p),
    "endswith": lambda t, u: t.s.endswith("c"),
    "endswith column": lambda t, u: t.s.endswith(t.p),
    "like": lambda t, u: t.s.like("%a%"),
    "like backslash": lambda t, u: t.s.like("%\\%"),
    "ilike": lambda t, u: t.s.ilike("A%"),
    "equal": lambda t, u: t.s == "Anna",
    "quote": lambda t, u: t.s == "quote's",
    "literal with lines": lambda t, u: t.s + "one\ntwo",
    "literal with a blank": lambda t, u: t.select("id", x=ibis.literal("end ")),
    "literal with letters": lambda t, u: t.select("id", x=ibis.literal("Größe")),
    "isin": lambda t, u: t.s.isin(["Anna", "", "ÄÖ"]),
    "notin": lambda t, u: t.s.notin(["Anna", "b c"]),
    "nullif": lambda t, u: t.s.nullif("Anna"),
    "fill_null": lambda t, u: t.s.fill_null("none"),
    "order": lambda t, u: t.order_by(t.g.desc(nulls_first=True), t.id).limit(9).select("g", "id"),
}

NUMBERS: dict[str, Make] = {
    "add": lambda t, u: t.i + t.small,
    "subtract": lambda t, u: t.i - t.big,
    "multiply": lambda t, u: t.i * t.j,
    "multiply decimals": lambda t, u: (t.m * t.m).cast("float64"),
    "add decimals": lambda t, u: (t.m + t.m).cast("float64"),
    "mixed": lambda t, u: t.m.cast("float64") * t.f,
    "divide": lambda t, u: t.i / t.j,
    "divide float": lambda t, u: t.f / t.j,
    "floordiv": lambda t, u: t.i // t.j,
    "mod": lambda t, u: t.i % t.j,
    "negate": lambda t, u: -t.i,
    "negate sum": lambda t, u: -(t.i - t.j),
    "nested minus": lambda t, u: t.id - (t.i - t.j),
    "power": lambda t, u: t.j**3,
    "sqrt": lambda t, u: t.j.sqrt(),
    "exp": lambda t, u: t.f.clip(upper=3).exp(),
    "ln": lambda t, u: t.j.ln(),
    "log2": lambda t, u: t.j.log2(),
    "log10": lambda t, u: t.j.log10(),
    "log base": lambda t, u: t.j.log(3),
    "abs": lambda t, u: t.i.abs(),
    "abs float": lambda t, u: t.f.abs(),
    "sign": lambda t, u: t.i.sign(),
    "sign float": lambda t, u: t.f.sign(),
    "ceil": lambda t, u: t.f.ceil(),
    "floor": lambda t, u: t.f.floor(),
    "round": lambda t, u: t.f.round(),
    "round 1": lambda t, u: t.f.round(1),
    "round decimal": lambda t, u: t.m.round(1),
    "sin": lambda t, u: t.f.sin(),
    "cos": lambda t, u: t.f.cos(),
    "tan": lambda t, u: t.j.tan(),
    "cot": lambda t, u: t.j.cot(),
    "asin": lambda t, u: (t.j / 4).asin(),
    "acos": lambda t, u: (t.j / 4).acos(),
    "atan": lambda t, u: t.f.atan(),
    "atan2": lambda t, u: t.f.atan2(t.j),
    "degrees": lambda t, u: t.j.degrees(),
    "radians": lambda t, u: t.j.radians(),
    "pi": lambda t, u: t.j * ibis.pi,
    "e": lambda t, u: t.j * ibis.e,
    "bits": lambda t, u: (t.j & 3) + (t.j | 4) + (t.j ^ 5),
    "bit not": lambda t, u: ~t.j,
    "greatest": lambda t, u: ibis.greatest(t.i, t.j, t.small),
    "least": lambda t, u: ibis.least(t.i, t.j, t.small),
    "clip": lambda t, u: t.i.clip(lower=-2, upper=3),
    "between": lambda t, u: t.i.between(-2, 3),
    "comparisons": lambda t, u: t.select("id", a=t.i < t.j, b=t.i <= 2, c=t.i > t.j, d=t.i >= 0, e=t.i != 1),
    "float literal": lambda t, u: t.i * 1.5,
    "big literal": lambda t, u: t.big + 9_000_000_000_000,
    "decimal filter": lambda t, u: t.filter(t.m > 1.5).select("id", "m"),
    "equal float": lambda t, u: t.filter(t.f == 2.25).id,
    "fill_null": lambda t, u: t.i.fill_null(0),
    "coalesce": lambda t, u: ibis.coalesce(t.small, t.i, t.j),
    "isin": lambda t, u: t.i.isin([1, 2, 3]),
    "isin nothing": lambda t, u: t.i.isin([]),
    "columns of literals": lambda t, u: t.select(
        "id", a=ibis.literal(1), b=ibis.literal(2.5), c=ibis.literal(None, "int64")
    ),
    "parenthesised": lambda t, u: (t.i + t.j) * (t.i - t.j),
}

CASTS: dict[str, Make] = {
    "float to int": lambda t, u: t.f.cast("int64"),
    "decimal to int": lambda t, u: t.m.cast("int64"),
    "int to float": lambda t, u: t.i.cast("float64"),
    "int to decimal": lambda t, u: t.i.cast("decimal(10, 2)"),
    "decimal to decimal": lambda t, u: t.m.cast("decimal(10, 1)"),
    "decimal to float": lambda t, u: t.m.cast("float64"),
    "int to text": lambda t, u: t.i.cast("string"),
    "big to text": lambda t, u: t.big.cast("string"),
    "decimal to text": lambda t, u: t.m.cast("string"),
    "bool to text": lambda t, u: t.b.cast("string"),
    "bool to int": lambda t, u: t.b.cast("int32"),
    "int to bool": lambda t, u: (t.i % 2).cast("bool"),
    "date to text": lambda t, u: t.d.cast("string"),
    "timestamp to text": lambda t, u: t.ts.cast("string"),
    "text to int": lambda t, u: t.i.cast("string").cast("int64"),
    "text to float": lambda t, u: t.m.cast("string").cast("float64"),
    "text to date": lambda t, u: t.d.cast("string").cast("date"),
    "text to timestamp": lambda t, u: t.ts.cast("string").cast("timestamp"),
    "timestamp to date": lambda t, u: t.ts.cast("date"),
    "date to timestamp": lambda t, u: t.d.cast("timestamp"),
    "condition to int": lambda t, u: (t.i > 1).cast("int32"),
}

DATES: dict[str, Make] = {
    **{
        f"{part} of a {kind}": (lambda t, u, part=part, kind=kind: getattr(t[kind], part)())
        for kind in ("d", "ts")
        for part in ("year", "month", "day", "quarter", "day_of_year", "week_of_year", "iso_year")
    },
    **{
        part: (lambda t, u, part=part: getattr(t.ts, part)())
        for part in ("hour", "minute", "second", "millisecond", "microsecond", "date", "time")
    },
    "seconds since 1970": lambda t, u: t.ts.truncate("s").epoch_seconds(),
    "seconds of a date": lambda t, u: t.d.epoch_seconds(),
    "weekday": lambda t, u: t.d.day_of_week.index(),
    "weekday of ts": lambda t, u: t.ts.day_of_week.index(),
    "weekday name": lambda t, u: t.d.day_of_week.full_name(),
    **{f"truncate date to {unit}": (lambda t, u, unit=unit: t.d.truncate(unit)) for unit in "YQMWD"},
    **{
        f"truncate timestamp to {unit}": (lambda t, u, unit=unit: t.ts.truncate(unit))
        for unit in ("Y", "Q", "M", "W", "D", "h", "m", "s", "ms")
    },
    "add days": lambda t, u: t.d + ibis.interval(days=40),
    "subtract days": lambda t, u: t.d - ibis.interval(days=40),
    "add weeks": lambda t, u: t.d + ibis.interval(weeks=2),
    "add months": lambda t, u: t.d + ibis.interval(months=1),
    "subtract months": lambda t, u: t.d - ibis.interval(months=3),
    "add years": lambda t, u: t.d + ibis.interval(years=1),
    "add quarters": lambda t, u: t.d + ibis.interval(quarters=1),
    "add hours": lambda t, u: t.ts + ibis.interval(hours=30),
    "subtract minutes": lambda t, u: t.ts - ibis.interval(minutes=90),
    "add seconds": lambda t, u: t.ts + ibis.interval(seconds=3601),
    "add months to ts": lambda t, u: t.ts + ibis.interval(months=1),
    "add days to ts": lambda t, u: t.ts - ibis.interval(days=1),
    "add computed days": lambda t, u: t.d + t.i.as_interval("D"),
    "add computed months": lambda t, u: t.d + t.i.as_interval("M"),
    "add computed hours": lambda t, u: t.ts + t.j.as_interval("h"),
    **{
        f"delta in {unit}s": (
            lambda t, u, unit=unit: t.ts.delta(ibis.timestamp("2021-06-15 12:34:56"), unit=unit)
        )
        for unit in ("year", "quarter", "month", "day", "hour", "minute", "second")
    },
    "delta of dates": lambda t, u: t.d.delta(ibis.date("2020-02-29"), unit="day"),
    "delta of dates in months": lambda t, u: t.d.delta(ibis.date("2020-02-29"), unit="month"),
    "date literal": lambda t, u: t.filter(t.d > ibis.date("2020-02-28")).id,
    "timestamp literal": lambda t, u: t.filter(t.ts <= ibis.timestamp("2024-02-29 07:11:13.12345")).id,
    "date from parts": lambda t, u: ibis.date(t.j + 2000, t.j, t.j),
    "timestamp from parts": lambda t, u: ibis.timestamp(t.j + 2000, t.j, t.j, t.j, t.j, t.j),
    "strftime": lambda t, u: t.d.strftime("%d.%m.%Y"),
    "strftime of ts": lambda t, u: t.ts.strftime("%Y-%m-%dT%H:%M:%S"),
    "strftime words": lambda t, u: t.d.strftime("%A %B %j %%"),
    "as_date": lambda t, u: t.d.strftime("%d/%m/%Y").as_date("%d/%m/%Y"),
    "as_timestamp": lambda t, u: t.ts.strftime("%Y-%m-%d %H:%M:%S").as_timestamp("%Y-%m-%d %H:%M:%S"),
    "between dates": lambda t, u: t.filter(t.d.between(ibis.date("2020-01-01"), ibis.date("2024-02-29"))).id,
    "min and max": lambda t, u: t.aggregate(a=t.d.min(), b=t.ts.max()),
}

LOGIC: dict[str, Make] = {
    "column": lambda t, u: t.filter(t.b).id,
    "not column": lambda t, u: t.filter(~t.b).id,
    "and": lambda t, u: t.select("id", x=t.b & (t.i > 0)),
    "or": lambda t, u: t.select("id", x=t.b | (t.i > 0)),
    "not": lambda t, u: t.select("id", x=~(t.b & (t.i > 0))),
    "xor": lambda t, u: t.select("id", x=t.b ^ (t.i > 0)),
    "equal to true": lambda t, u: t.select("id", x=t.b == True),  # noqa: E712
    "equal conditions": lambda t, u: t.select("id", x=(t.i > 0) == (t.j > 2)),
    "is null": lambda t, u: t.select("id", x=t.b.isnull(), y=t.i.notnull()),
    "condition is null": lambda t, u: t.select("id", x=(t.i > 0).isnull()),
    "identical_to": lambda t, u: t.select("id", x=t.i.identical_to(t.small)),
    "constant true": lambda t, u: t.filter(ibis.literal(True)).id,
    "constant column": lambda t, u: t.select("id", x=ibis.literal(False)),
    "ifelse": lambda t, u: (t.i > 0).ifelse("yes", "no"),
    "ifelse of a column": lambda t, u: t.b.ifelse(1, 0),
    "ifelse to condition": lambda t, u: t.b.ifelse(t.i > 0, t.j > 2),
    "cases": lambda t, u: ibis.cases((t.i > 3, "high"), (t.i > 0, "low"), else_="none"),
    "cases of a value": lambda t, u: t.g.cases(("a", 1), ("b", 2), else_=0),
    "cases without else": lambda t, u: t.j.cases((1, "one"), (2, "two")),
    "fill_null": lambda t, u: t.b.fill_null(False),
    "coalesce": lambda t, u: ibis.coalesce(t.b, t.i > 0, True),
    "order by a condition": lambda t, u: t.order_by((t.j > 2).desc(), t.id).limit(7).id,
    "group by a condition": lambda t, u: t.group_by(x=t.j > 2).aggregate(n=t.count()),
    "isin of booleans": lambda t, u: t.select("id", x=t.b.isin([True])),
    "drop_null": lambda t, u: t.drop_null(["i", "g"]).select("id"),
    "fill_null of a table": lambda t, u: t.fill_null({"i": 0, "g": "?"}).select("id", "i", "g"),
}

AGGREGATES: dict[str, Make] = {
    "count": lambda t, u: t.count(),
    "count of a column": lambda t, u: t.i.count(),
    "nunique": lambda t, u: t.i.nunique(),
    "sum": lambda t, u: t.i.sum(),
    "sum of floats": lambda t, u: t.f.sum(),
    "sum of decimals": lambda t, u: t.m.sum().cast("float64"),
    "sum of booleans": lambda t, u: t.b.sum(),
    "mean": lambda t, u: t.i.mean(),
    "mean of floats": lambda t, u: t.f.mean(),
    "mean of booleans": lambda t, u: t.b.mean(),
    "min": lambda t, u: t.s.min(),
    "max": lambda t, u: t.m.max(),
    "min of booleans": lambda t, u: t.b.min(),
    "max of booleans": lambda t, u: t.b.max(),
    "any": lambda t, u: (t.i > 3).any(),
    "all": lambda t, u: (t.i > 3).all(),
    "any of nothing": lambda t, u: t.filter(t.id < 0).b.any(),
    "var": lambda t, u: t.i.var(),
    "var pop": lambda t, u: t.f.var(how="pop"),
    "std": lambda t, u: t.f.std(),
    "std pop": lambda t, u: t.m.cast("float64").std(how="pop"),
    "var of one": lambda t, u: t.filter(t.id == 1).j.var(),
    "cov": lambda t, u: t.i.cov(t.f),
    "cov pop": lambda t, u: t.i.cov(t.f, how="pop"),
    "corr": lambda t, u: t.i.corr(t.f, how="pop"),
    "where": lambda t, u: t.aggregate(
        n=t.count(where=t.b),
        c=t.i.count(where=t.j > 2),
        s=t.i.sum(where=t.b),
        m=t.f.mean(where=t.j == 1),
        u=t.i.nunique(where=t.b),
        v=t.i.var(where=t.j > 1),
        x=t.i.max(where=~t.b),
    ),
    "groups": lambda t, u: t.group_by("g").aggregate(n=t.count(), s=t.i.sum(), a=t.f.mean(), x=t.s.max()),
    "groups of two": lambda t, u: t.group_by("g", "b").aggregate(n=t.count(), v=t.i.var()),
    "group by expression": lambda t, u: t.group_by(y=t.d.year()).aggregate(n=t.count()),
    "having": lambda t, u: t.group_by("g").having(t.count() > 6).aggregate(n=t.count()),
    "filter after": lambda t, u: t.group_by("g").aggregate(n=t.count(), s=t.i.sum()).filter(_.s > 0),
    "order after": lambda t, u: t.group_by("g").aggregate(n=t.count()).order_by(_.n.desc(), "g").limit(2),
    "value_counts": lambda t, u: t.g.value_counts(),
    "distinct": lambda t, u: t.select("g", "j").distinct(),
    "distinct of a column": lambda t, u: t.j.as_table().distinct(),
    "topk": lambda t, u: t.j.topk(2),
    "aggregate of an aggregate": lambda t, u: t.group_by("g").aggregate(n=t.count()).aggregate(m=_.n.max()),
    "ratio": lambda t, u: t.aggregate(x=t.i.sum() / t.count()),
    "count of a filter": lambda t, u: t.filter(t.i > 0).count(),
    "nothing": lambda t, u: t.filter(t.id < 0).aggregate(s=_.i.sum(), n=_.count()),
}

RELATIONS: dict[str, Make] = {
    "inner join": lambda t, u: t.inner_join(u, t.id == u.k).select("id", "s", "name", "w"),
    "left join": lambda t, u: t.left_join(u, t.id == u.k).select("id", "name"),
    "right join": lambda t, u: t.right_join(u, t.id == u.k).select("id", "name"),
    "outer join": lambda t, u: t.outer_join(u, t.id == u.k).select("id", "k", "name"),
    "semi join": lambda t, u: t.semi_join(u, t.id == u.k).select("id", "s"),
    "anti join": lambda t, u: t.anti_join(u, t.id == u.k).select("id", "s"),
    "cross join": lambda t, u: t.filter(t.id < 4).cross_join(u).select("id", "name"),
    "join on two": lambda t, u: t.inner_join(u, [t.id == u.k, t.f < u.w]).select("id", "name"),
    "join on an inequality": lambda t, u: t.left_join(u, t.id < u.k).select("id", "name"),
    "self join": lambda t, u: t.inner_join(t.view(), "j").count(),
    "join of a filter": lambda t, u: (
        t.filter(t.i > 0).left_join(u.filter(u.w > 0), t.id == u.k).select("id", "w")
    ),
    "join of an aggregate": lambda t, u: t.left_join(t.group_by("g").aggregate(n=t.count()), "g").select(
        "id", "n"
    ),
    "semi then left": lambda t, u: (
        t.semi_join(u, t.id == u.k).left_join(u.view(), [("id", "k")]).select("id", "name")
    ),
    "three tables": lambda t, u: t.inner_join(u, t.id == u.k).inner_join(t.view(), "j").count(),
    "union": lambda t, u: t.select("id").union(u.select(id=u.k)),
    "union distinct": lambda t, u: t.select("j").union(u.select(j=u.k), distinct=True),
    "intersect": lambda t, u: t.select("id").intersect(u.select(id=u.k)),
    "difference": lambda t, u: t.select("id").difference(u.select(id=u.k)),
    "union of limits": lambda t, u: (
        t.order_by("id").limit(2).select("id").union(t.order_by(t.id.desc()).limit(2).select("id"))
    ),
    "union of three": lambda t, u: t.select("id").union(u.select(id=u.k)).union(t.select(id=t.j)).count(),
    "limit and offset": lambda t, u: t.order_by("id").limit(5, offset=3).select("id", "s"),
    "limit 0": lambda t, u: t.limit(0).select("id"),
    "limit of a limit": lambda t, u: t.order_by("id").limit(9).limit(4, offset=2).id,
    "filter of a limit": lambda t, u: t.order_by("id").limit(9).filter(_.id > 4).id,
    "order of an expression": lambda t, u: t.order_by((t.i * -1).asc(nulls_first=True), t.id).limit(8).id,
    "isin of a column": lambda t, u: t.filter(t.id.isin(u.k)).id,
    "not in of a column": lambda t, u: t.filter(t.id.notin(u.filter(u.k.notnull()).k)).id,
    "scalar subquery": lambda t, u: t.filter(t.i > t.i.mean()).id,
    "scalar subquery in a column": lambda t, u: t.select("id", x=t.i - t.i.min()),
    "exists": lambda t, u: t.filter((t.id == u.k).any()).id,
    "not exists": lambda t, u: t.filter(~(t.id == u.k).any()).id,
    "used twice": lambda t, u: (lambda q: q.inner_join(q.view(), "j").count())(t.filter(t.i > 0)),
    "mutate": lambda t, u: t.mutate(x=t.i + 1).mutate(y=_.x * 2).select("id", "x", "y"),
    "rename": lambda t, u: t.rename(new="i").select("id", "new"),
    "drop": lambda t, u: t.drop("s", "ts", "p", "d", "m", "f"),
    "odd names": lambda t, u: t.select("id", **{"Two words": t.i, "select": t.j, "ÄÖ": t.g}),
    "memtable": lambda t, u: t.inner_join(ibis.memtable({"id": [1, 3], "note": ["x", None]}), "id").select(
        "id", "note"
    ),
    "memtable alone": lambda t, u: ibis.memtable(
        {"a": [1, None, 3], "b": ["x", "", None], "c": [1.5, None, -2.0]}
    ),
    "values": lambda t, u: ibis.literal(1) + 2,
    "pivot": lambda t, u: t.pivot_wider(
        id_cols="j", names_from="g", values_from="id", values_agg="sum", names=["a", "b"]
    ),
}

WINDOWS: dict[str, Make] = {
    "row_number": lambda t, u: t.select("id", x=ibis.row_number().over(order_by=t.id.desc())),
    "rank": lambda t, u: t.select("id", x=t.j.rank()),
    "dense_rank": lambda t, u: t.select("id", x=t.i.dense_rank()),
    "percent_rank": lambda t, u: t.select("id", x=t.j.percent_rank()),
    "cume_dist": lambda t, u: t.select("id", x=t.j.cume_dist()),
    "ntile": lambda t, u: t.select("id", x=ibis.ntile(4).over(order_by=t.id)),
    "lag": lambda t, u: t.select("id", x=t.i.lag().over(order_by=t.id)),
    "lag with default": lambda t, u: t.select("id", x=t.i.lag(2, 0).over(order_by=t.id)),
    "lead": lambda t, u: t.select("id", x=t.i.lead(2).over(group_by=t.g, order_by=t.id)),
    "first": lambda t, u: t.select("id", x=t.i.first().over(group_by=t.j, order_by=t.id)),
    "last": lambda t, u: t.select("id", x=t.id.last().over(group_by=t.j, order_by=t.id)),
    "sum": lambda t, u: t.select("id", x=t.i.sum().over(group_by=t.g)),
    "mean": lambda t, u: t.select("id", x=t.i.mean().over(group_by=t.g)),
    "count": lambda t, u: t.select("id", x=t.count().over(group_by=t.b)),
    "whole": lambda t, u: t.select("id", x=t.i.sum().over()),
    "cumsum": lambda t, u: t.select("id", x=t.i.cumsum(order_by=t.id)),
    "cummax": lambda t, u: t.select("id", x=t.i.cummax(order_by=t.id)),
    "moving": lambda t, u: t.select(
        "id", x=t.f.mean().over(ibis.window(order_by=t.id, preceding=2, following=1))
    ),
    "range": lambda t, u: t.select(
        "id", x=t.id.sum().over(ibis.range_window(order_by=t.id, preceding=2, following=0))
    ),
    "variance": lambda t, u: t.select("id", x=t.i.var().over(group_by=t.j)),
    "any": lambda t, u: t.select("id", x=(t.i > 3).any().over(group_by=t.j)),
    "share": lambda t, u: t.select("id", x=t.j / t.j.sum().over(group_by=t.g)),
    "difference": lambda t, u: t.select("id", x=t.i - t.i.mean().over(group_by=t.g)),
    "filter on a rank": lambda t, u: t.filter(ibis.row_number().over(group_by=t.g, order_by=t.id) < 2).select(
        "id", "g"
    ),
    "group_by mutate": lambda t, u: t.group_by("g").mutate(x=_.i.max()).select("id", "x"),
    "where": lambda t, u: t.select("id", x=t.i.sum(where=t.b).over(group_by=t.j)),
}

GROUPS = {
    "text": TEXT, "numbers": NUMBERS, "casts": CASTS, "dates": DATES, "logic": LOGIC, "aggregates": AGGREGATES,
    "relations": RELATIONS, "windows": WINDOWS,
}  # fmt: skip
ALL: dict[str, Make] = {
    f"{group}: {name}": make for group, cases in GROUPS.items() for name, make in cases.items()
}

ORDERED = frozenset(name for name in ALL if "order" in name or "limit" in name) - {
    "relations: union of limits"
}
"""Expressions whose rows have an order."""
