"""Draw a session of `make demo` as docs/site/demo.svg: ``python tools/demo_svg.py``.

With a file as argument its text is drawn instead.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.highlighter import ReprHighlighter
from rich.text import Text

TARGET = Path(__file__).parent.parent / "docs" / "site" / "demo.svg"
WIDTH, LINES = 100, 60


def main() -> None:
    """Run the demo, or read its output from a file, and draw the beginning."""
    if len(sys.argv) > 1:
        printed = Path(sys.argv[1]).read_text(encoding="utf-8")
    else:
        command = [sys.executable, "-m", "informix_arrow", "demo"]
        printed = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, "COLUMNS": str(WIDTH)}
        ).stdout
    # Warnings on stderr are not part of the session.
    lines = [line for line in printed.splitlines() if not line.startswith("informix-arrow: warning")][:LINES]
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print("$ make demo", style="bold")
    for line in lines:
        console.print(ReprHighlighter()(Text(line, no_wrap=True, overflow="crop")))
    drawing = console.export_svg(title="make demo", unique_id="demo")
    # The image loads no fonts: every viewer has a monospaced font.
    drawing = re.sub(r"@font-face\s*\{[^}]*\}\s*", "", drawing).replace("Fira Code, monospace", "monospace")
    TARGET.write_text("\n".join(line.rstrip() for line in drawing.splitlines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
