// The style sheet that pages share: type, tables, figures. The five colours are distinguishable without
// seeing red or green; they have a contrast of at least 4.5 with the page, light and dark.
#pragma once

#include <string_view>

namespace mfga::charts {

inline constexpr std::string_view kStyle = R"css(
:root {
  color-scheme: light;
  --page: #fdfdfb; --ink: #1d2126; --soft: #5b636d; --rule: #d5d8dc; --faint: #eceef0; --tint: #f4f5f3;
  --blue: #0a5ea8; --orange: #c03d00; --purple: #a0447c; --green: #00775a; --gold: #8a6100;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    color-scheme: dark;
    --page: #15181b; --ink: #e6e8ea; --soft: #9ba3ac; --rule: #3a4047; --faint: #282d32; --tint: #1d2125;
    --blue: #63b3f0; --orange: #ff8a4f; --purple: #e094c0; --green: #3fcb9f; --gold: #e0b040;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; max-width: 72rem; padding: 3.5rem 2rem 3rem;
  background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif;
}
p, li, dd { max-width: 44rem; overflow-wrap: break-word; }
h1, h2, h3 { line-height: 1.2; font-weight: 650; text-wrap: balance; overflow-wrap: break-word; }
h1 { font-size: 2.1rem; letter-spacing: -0.015em; margin: 0 0 .8rem; }
h2 { font-size: 1.4rem; letter-spacing: -0.01em; margin: 0 0 .3rem; }
h3 { font-size: 1rem; margin: 0; }
abbr { text-decoration: none; }
sub { line-height: 0; }
a { color: inherit; text-decoration-color: var(--rule); text-underline-offset: .2em; }
a:hover { text-decoration-color: currentColor; }
.lede { font-size: 1.12rem; margin: 0; }
.soft { color: var(--soft); }
section { margin-top: 4rem; }

.panels { display: grid; grid-template-columns: 1fr 1fr; gap: 2.5rem 2.5rem; margin-top: 1.8rem; }
figure { margin: 0; min-width: 0; }
figcaption { display: flex; flex-wrap: wrap; gap: 0 .7rem; align-items: baseline; margin-bottom: .5rem; }
svg { display: block; width: 100%; height: auto; overflow: visible; font-size: 12px; }
svg text { fill: currentColor; }
.tick { fill: var(--soft); font-variant-numeric: tabular-nums; }
.grid { stroke: var(--faint); }
.axis { stroke: var(--soft); fill: none; }
.line, .bar, .leader { fill: none; stroke: currentColor; stroke-linejoin: round; }
.line { stroke-width: 1.6; }
.bar { stroke-width: 1.1; }
.leader { stroke-width: .8; opacity: .7; }
.marker { fill: currentColor; stroke: var(--page); stroke-width: 1; }
.blue { color: var(--blue); } .orange { color: var(--orange); } .purple { color: var(--purple); }
.green { color: var(--green); } .gold { color: var(--gold); }

.scroll { overflow-x: auto; }
:focus-visible { outline: 2px solid var(--blue); outline-offset: 3px; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; line-height: 1.35;
        font-variant-numeric: tabular-nums lining-nums; }
caption { text-align: left; color: var(--soft); padding-bottom: .7rem; }
th, td { padding: .36rem .6rem; text-align: right; white-space: nowrap; font-weight: inherit; vertical-align: baseline; }
td:last-child, thead th:last-child { padding-right: 0; }
thead th { color: var(--soft); font-size: .86rem; vertical-align: bottom; }
thead tr:last-child { border-bottom: 1.5px solid var(--ink); }
tbody tr + tr { border-top: 1px solid var(--faint); }

footer { margin-top: 4.5rem; padding-top: 1.2rem; border-top: 1px solid var(--rule); font-size: .9rem; color: var(--soft); }
footer dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: 0; }
footer dd { margin: 0; min-width: 0; }
code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: .93em; }

@media screen and (max-width: 48rem) {
  body { padding: 2rem 1.1rem; }
  h1 { font-size: 1.65rem; }
  section { margin-top: 3rem; }
  .panels { grid-template-columns: 1fr; gap: 2rem; }
  svg { font-size: 13.5px; }
  table { font-size: .86rem; }
  th, td { padding: .36rem .42rem; }
  footer dl { grid-template-columns: 1fr; gap: 0; }
  footer dd { margin-bottom: .6rem; }
}
@media print {
  @page { margin: 14mm 13mm; }
  :root { --page: #fff; font-size: 9.5pt; }
  body { max-width: none; padding: 0; }
  section { margin-top: 8mm; }
  .panels { gap: 5mm 7mm; margin-top: 3mm; }
  .scroll { overflow: visible; }
  table { font-size: 7.8pt; }
  thead th { font-size: 7.2pt; }
  th, td { padding: .22rem .3rem; }
  figure { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  a { text-decoration: none; }
  .lede { font-size: 1rem; }
  footer { margin-top: 6mm; padding-top: 2mm; break-inside: avoid; }
  footer dl { display: block; }
  footer dt, footer dd { display: inline; }
  footer dt::after { content: ": "; }
  footer dd::after { content: " \b7 "; }
  footer dd:last-child::after { content: ""; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)css";

}  // namespace mfga::charts
