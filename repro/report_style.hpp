// The style sheet of the page. Colours of the methods are distinguishable without seeing red or green, and
// are not the only difference: markers, dashes and labels say the same.
#pragma once

#include <string_view>

namespace mfga::repro {

inline constexpr std::string_view kReportStyle = R"css(
:root {
  color-scheme: light;
  --page: #fdfdfb; --ink: #1d2126; --soft: #5b636d; --rule: #d5d8dc; --faint: #eceef0; --tint: #f4f5f3;
  --mfga: #0a5ea8; --ours: #c03d00; --rks: #a0447c; --lkrf: #00775a; --eerf: #8a6100;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    color-scheme: dark;
    --page: #15181b; --ink: #e6e8ea; --soft: #9ba3ac; --rule: #3a4047; --faint: #282d32; --tint: #1d2125;
    --mfga: #63b3f0; --ours: #ff8a4f; --rks: #e094c0; --lkrf: #3fcb9f; --eerf: #e0b040;
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
.quick { margin: 1.6rem 0 0; padding: .8rem 1.1rem; border: 1px solid var(--ours); border-left-width: 5px; }
section { margin-top: 4rem; }

.findings { list-style: none; margin: 2.6rem 0 0; padding: 0; border-bottom: 1px solid var(--rule); }
.findings li {
  display: grid; grid-template-columns: 8.2rem 1fr; gap: 1.6rem; align-items: baseline;
  max-width: none; padding: .85rem 0; border-top: 1px solid var(--rule);
}
.findings strong { font-size: 1.45rem; font-weight: 600; line-height: 1.1; white-space: nowrap; text-align: right;
                   font-variant-numeric: tabular-nums; letter-spacing: -0.01em; }
.findings span { max-width: 50rem; }

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
.mfga .line, .ours .line { stroke-width: 2.6; }
.label.mfga, .label.ours { font-weight: 650; }
.mfga { color: var(--mfga); } .ours { color: var(--ours); } .rks { color: var(--rks); }
.lkrf { color: var(--lkrf); } .eerf { color: var(--eerf); }
.gk, .glk, .constant, .other { color: var(--soft); }
.level .line { stroke-width: 1.3; stroke-dasharray: 7 4; }
.level.glk .line { stroke-dasharray: 12 3 3 3; }
.level.constant .line { stroke-dasharray: 1.5 3.5; stroke-width: 1.8; }

dl.guide { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1.2rem; margin: 1rem 0 0; }
dl.guide dt { font-weight: 600; }
dl.guide dd { margin: 0; }

.facts { margin: 0 0 1.1rem; color: var(--soft); }
.facts::first-letter { text-transform: uppercase; }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid var(--mfga); outline-offset: 3px; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; line-height: 1.35;
        font-variant-numeric: tabular-nums lining-nums; }
caption { text-align: left; color: var(--soft); padding-bottom: .7rem; }
caption span { position: sticky; left: 0; display: inline-block; max-width: calc(100vw - 2.2rem); }
th, td { padding: .36rem .6rem; text-align: right; white-space: nowrap; font-weight: inherit; vertical-align: baseline; }
th.method { text-align: left; padding-left: 0; position: sticky; left: 0; background: var(--page); }
td:last-child, thead th:last-child { padding-right: 0; }
thead th { color: var(--soft); font-size: .86rem; vertical-align: bottom; }
thead tr:first-child th[colspan] { text-align: center; border-bottom: 1px solid var(--rule); }
thead tr:last-child { border-bottom: 1.5px solid var(--ink); }
.set { padding-left: 1.4rem; }
tbody tr + tr { border-top: 1px solid var(--faint); }
tbody + tbody { border-top: 1px solid var(--soft); }
.group th { font-size: .86rem; color: var(--soft); padding-top: .8rem; }
tbody .group + tr { border-top: 0; }
tbody th small, .se, .none { color: var(--soft); }
tbody th small { margin-left: .4rem; }
.published, .theirs { color: var(--soft); }
.se { display: inline-block; text-align: left; padding-left: .35em; font-size: .92em; }
td b { font-weight: 750; }
td.best { background: var(--tint); }
.remarks { margin: 1rem 0 0; padding-left: 1.1rem; font-size: .95rem; }
.remarks li { margin: .25rem 0; }

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
  .set { padding-left: .9rem; }
  .findings li { grid-template-columns: 1fr; gap: .15rem; }
  .findings strong { text-align: left; }
  dl.guide, footer dl { grid-template-columns: 1fr; gap: 0; }
  dl.guide dd, footer dd { margin-bottom: .6rem; }
}
@media print {
  @page { margin: 14mm 13mm; }
  :root { --page: #fff; font-size: 9.5pt; }
  body { max-width: none; padding: 0; }
  section { margin-top: 8mm; break-inside: avoid; }
  .panels { gap: 5mm 7mm; margin-top: 3mm; }
  .scroll { overflow: visible; }
  table { font-size: 7.8pt; }
  thead th, .group th { font-size: 7.2pt; }
  th, td { padding: .22rem .3rem; }
  .set { padding-left: .6rem; }
  th.method, caption span { position: static; max-width: none; }
  figure, table, .findings li { break-inside: avoid; }
  a { text-decoration: none; }
  .lede { font-size: 1rem; }
  .findings { margin-top: 5mm; }
  .findings li { grid-template-columns: 27mm 1fr; padding: .35rem 0; }
  .findings strong { font-size: 1.2rem; }
  footer { margin-top: 6mm; padding-top: 2mm; break-inside: avoid; }
  footer dl { display: block; }
  footer dt, footer dd { display: inline; }
  footer dt::after { content: ": "; }
  footer dd::after { content: " \b7 "; }
  footer dd:last-child::after { content: ""; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)css";

}  // namespace mfga::repro
