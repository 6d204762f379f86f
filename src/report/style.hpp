// What the page of a model adds to the style sheet that pages share.
#pragma once

#include <string_view>

namespace mfga::report {

inline constexpr std::string_view kModelStyle = R"css(
h2 { margin-bottom: .5rem; }
h2 + p { margin-top: 0; }
section { scroll-margin-top: 1rem; }
nav { margin: 1.6rem 0 0; padding: .7rem 0; border-top: 1px solid var(--rule); border-bottom: 1px solid var(--rule); }
nav ul { display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; list-style: none; margin: 0; padding: 0; font-size: .95rem; }
.figures { display: flex; flex-wrap: wrap; gap: .9rem 2.6rem; margin: 1.8rem 0 0; }
.figures div { min-width: 5rem; }
.figures dt { color: var(--soft); font-size: .86rem; }
.figures dd { margin: 0; font-size: 1.5rem; font-weight: 600; line-height: 1.2; letter-spacing: -0.01em;
              font-variant-numeric: tabular-nums lining-nums; }
.note { padding: .6rem 0 .6rem 1rem; border-left: 3px solid var(--rule); color: var(--soft); }
.panels { grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); gap: 2.2rem 2.2rem; align-items: start; }
.panels svg, .one svg { max-width: 30rem; }
.panels.wide { grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); }
@media (min-width: 48.01rem) { .panels.two { grid-template-columns: 1fr 1fr; } }
tr.sum > * { font-weight: 650; }
.one { max-width: 34rem; margin-top: 1.2rem; }
figcaption { display: block; }
figcaption .soft { font-size: .9rem; display: block; }
summary { cursor: pointer; color: var(--soft); font-size: .9rem; padding: .35rem 0; width: fit-content; }
summary:hover { color: var(--ink); }
details[open] > summary { color: var(--ink); }
section > details { margin-top: 1.4rem; }
figure details table { width: auto; font-size: .82rem; }
th[scope=row], th:first-child { text-align: left; padding-left: 0; }
thead th { font-weight: 600; }
td.text, th.text { text-align: left; }
td:first-child { padding-left: 0; }
.scroll + h3, .panels + h3 { margin-top: 2rem; }
h3 + .scroll, h3 + p { margin-top: .4rem; }
td.wrap, th.wrap { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 9rem; }
td.chart { min-width: 6.5rem; width: 34%; }
.bar-track { display: block; height: .7rem; background: var(--faint); position: relative; }
.bar-fill { display: block; height: 100%; background: var(--blue); }
.bar-fill.orange { background: var(--orange); }
.bar-fill.floating { position: absolute; top: 0; min-width: 2px; }
.bar-fill.mark { background: var(--ink); margin-left: -1px; }
.waterfall .bar-track { background: none; border-left: 1px solid var(--rule); border-right: 1px solid var(--rule); }
.waterfall tbody tr + tr { border-top: 0; }
pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: .84rem;
      line-height: 1.5; margin: 0; }
.formula { background: var(--tint); padding: 1rem 1.1rem; }
.formula p { margin: 0 0 .4rem; max-width: none; }
.formula table { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: .86rem; }
.formula tbody tr + tr { border-top: 0; }
.formula td, .formula th { padding: .16rem .6rem; }
.formula td.term { text-align: left; white-space: normal; overflow-wrap: anywhere; width: 75%; }
.formula th[scope=row], .formula thead th:not(.text) { text-align: right; }
.whole { white-space: nowrap; }
.error { color: var(--soft); padding-left: .9rem; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1.4rem; margin: .8rem 0 1.6rem; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
.density { fill: var(--soft); opacity: .38; }
.bars { fill: currentColor; opacity: .85; }
.band { fill: currentColor; opacity: .17; }
.reference { stroke: var(--soft); stroke-dasharray: 2 3.5; stroke-width: 1.3; }
.dashed .line { stroke-dasharray: 6 3.5; }
.curve .line { stroke-width: 2; }
.stem { stroke: currentColor; stroke-width: 3; opacity: .55; }
.chosen { fill: var(--page); stroke: var(--orange); stroke-width: 2.4; }
.label { font-weight: 600; paint-order: stroke; stroke: var(--page); stroke-width: 3px; }
.cell { fill: currentColor; }
svg .on-dark { fill: var(--page); } svg .on-light { fill: var(--ink); }
.legend { display: flex; align-items: center; gap: .5rem; font-size: .82rem; color: var(--soft); margin: .3rem 0 0;
          font-variant-numeric: tabular-nums; }
.legend i { display: inline-block; flex: none; width: 5rem; height: .6rem;
            background: linear-gradient(90deg, var(--orange), var(--page), var(--blue)); }
@media screen and (max-width: 48rem) {
  svg { font-size: 12.5px; }
  .facts { grid-template-columns: 1fr; gap: 0; }
  .facts dd { margin-bottom: .6rem; }
  .figures { gap: .8rem 1.8rem; }
  .figures dd { font-size: 1.25rem; }
  td.chart { min-width: 2.5rem; }
  .error { display: none; }
  .formula td.chart, .formula th.chart { display: none; }
  .formula td.term { width: auto; }
  .formula { padding: .7rem .6rem; }
  .formula td, .formula th { padding: .16rem .3rem; }
  .formula th.several { white-space: normal; }
  thead th { white-space: normal; }
}
@media print {
  nav, details:not(.more) { display: none; }
  /* What is left out on a screen at first is on paper, where the browser can open it. */
  .more > summary { list-style: none; }
  .more::details-content { content-visibility: visible; display: block; }
  .figures { gap: .6rem 1.6rem; }
  .panels { grid-template-columns: 1fr 1fr 1fr; }
  .panels.wide, .panels.two { grid-template-columns: 1fr 1fr; }
  tr, p { break-inside: avoid; }
  h2 + p { break-after: avoid; }
}
)css";

}  // namespace mfga::report
