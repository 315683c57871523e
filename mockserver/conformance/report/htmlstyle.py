"""How the HTML report looks: light or dark as the reader has it, and good on paper."""

STYLE = """
:root {
  color-scheme: light dark;
  --back: #f6f7f9; --card: #ffffff; --ink: #1c2430; --soft: #5c6675; --line: #dfe3e8;
  --code: #f2f4f7; --violation: #c62828; --observed: #b26a00; --assumption: #1565c0;
  --extra: #6a4fb3; --good: #2e7d32; --unclear: #6b7280;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #14181f; --card: #1c222b; --ink: #e6e9ee; --soft: #9aa5b4; --line: #2f3844;
    --code: #12161c; --violation: #ff7b72; --observed: #f0b357; --assumption: #79b8ff;
    --extra: #b9a2f5; --good: #6fcf7c; --unclear: #9aa5b4;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--back); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
.page { max-width: 1180px; margin: 0 auto; padding: 24px 20px 60px; }
h1 { font-size: 22px; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 17px; margin: 34px 0 10px; }
h3 { font-size: 13px; margin: 16px 0 6px; color: var(--soft); font-weight: 600; }
.soft { color: var(--soft); }
.banner {
  border-left: 6px solid var(--tone); background: var(--card); border-radius: 6px;
  padding: 16px 20px; margin-bottom: 16px; box-shadow: 0 1px 2px rgb(0 0 0 / 8%);
}
.banner p { margin: 4px 0 0; overflow-wrap: anywhere; }
.banner .says { font-size: 18px; font-weight: 600; color: var(--tone); }
.hint { border-left: 6px solid var(--observed); background: var(--card); padding: 12px 20px;
  border-radius: 6px; margin-bottom: 12px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(128px, 1fr)); gap: 10px; }
.tile { background: var(--card); border-radius: 6px; padding: 12px 14px;
  box-shadow: 0 1px 2px rgb(0 0 0 / 8%); border-top: 3px solid var(--tone, var(--line)); }
.tile b { display: block; font-size: 24px; line-height: 1.2; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: 13px; }
.violation { --tone: var(--violation); }
.differs-from-observed { --tone: var(--observed); }
.differs-from-assumption { --tone: var(--assumption); }
.undocumented-extra { --tone: var(--extra); }
.good { --tone: var(--good); }
.unclear { --tone: var(--unclear); }
.filter { position: absolute; opacity: 0; width: 1px; height: 1px; }
.labels { display: flex; flex-wrap: wrap; gap: 8px; margin: 26px 0 12px; }
.labels label { cursor: pointer; border: 1px solid var(--line); border-radius: 16px;
  padding: 3px 12px; background: var(--card); color: var(--soft); font-size: 13px; }
details { background: var(--card); border-radius: 6px; margin: 8px 0;
  box-shadow: 0 1px 2px rgb(0 0 0 / 8%); }
details.cause { border-left: 4px solid var(--tone); }
summary { cursor: pointer; padding: 10px 16px; overflow-wrap: anywhere; }
summary:focus-visible, .filter:focus-visible ~ .labels { outline: 2px solid var(--assumption); }
summary .rule { font-weight: 600; }
summary .what { display: block; }
.tag { display: inline-block; font-size: 12px; border: 1px solid var(--tone, var(--line));
  color: var(--tone, var(--soft)); border-radius: 4px; padding: 0 6px; margin-right: 6px; }
.inside { padding: 0 16px 16px; }
.inside > p { margin: 6px 0; }
blockquote { margin: 8px 0; padding: 6px 14px; border-left: 3px solid var(--line);
  color: var(--soft); overflow-wrap: anywhere; }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 12px; }
.sides > div { min-width: 0; }
@media (max-width: 800px) { .sides { grid-template-columns: 1fr; } }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 4px; margin: 0;
  padding: 10px 12px; overflow: auto; max-height: 420px; white-space: pre-wrap;
  overflow-wrap: anywhere; font: 12.5px/1.45 ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono",
  monospace; }
pre.copy { user-select: all; }
code { font: 0.92em ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace;
  overflow-wrap: anywhere; }
details details { box-shadow: none; border: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; background: var(--card); border-radius: 6px; }
th, td { text-align: left; padding: 5px 14px; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--soft); font-size: 13px; font-weight: 600; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.writes td { font-weight: 600; }
meter { width: 100%; min-width: 80px; }
footer { margin-top: 40px; color: var(--soft); font-size: 13px; }
@media print { .labels { display: none; } details { break-inside: avoid; }
  pre { max-height: none; } }
"""


def filters(verdicts: list[str]) -> str:
    """Return the rules that show one verdict when its button is chosen, without any script."""
    hiding = (
        f"#f-{verdict}:checked ~ .causes .cause:not(.{verdict}) {{ display: none; }}"
        for verdict in verdicts
    )
    chosen = (
        f"#f-{name}:checked ~ .labels label[for=f-{name}] "
        "{ color: var(--ink); border-color: var(--ink); font-weight: 600; }"
        for name in ("all", *verdicts)
    )
    return "\n".join((*hiding, *chosen))
