"""Generate the members of ``Kind`` in wire/plan_ops.py from native/kinds.def: ``python tools/kinds.py``.

With ``--check``, part of ``make lint``, nothing is written, and the exit code is 1 if the two differ.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "informix_arrow"
TABLE = SOURCE / "native" / "kinds.def"
MODULE = SOURCE / "wire" / "plan_ops.py"
MEMBERS = re.compile(r"(?<=^class Kind\(IntEnum\):\n).*?(?=\n\n\n)", re.MULTILINE | re.DOTALL)


def kinds() -> dict[str, int]:
    """Return names and numbers, in the order of the table."""
    found = re.findall(r"^IA_KIND\((\w+), +(\d+),", TABLE.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: int(number) for name, number in found}


def module_text() -> str:
    """Return the text that wire/plan_ops.py must have."""
    members = [
        '    """How a column\'s bytes lie in a tuple. Made by tools/kinds.py of native/kinds.def."""',
        "",
        *(f"    {name} = {number}" for name, number in kinds().items()),
    ]
    return MEMBERS.sub("\n".join(members), MODULE.read_text(encoding="utf-8"), count=1)


def main() -> int:
    text = module_text()
    if text == MODULE.read_text(encoding="utf-8"):
        return 0
    if "--check" in sys.argv:
        print(f"{MODULE} and {TABLE} differ: python tools/kinds.py", file=sys.stderr)
        return 1
    MODULE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
