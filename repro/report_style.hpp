// What the page of the reproduction adds to the style sheet that pages share. Colours are not the only
// difference between methods: markers, dashes and labels say the same.
#pragma once

#include <string_view>

namespace mfga::repro {

inline constexpr std::string_view kReportStyle = R"css(
.quick { margin: 1.6rem 0 0; padding: .8rem 1.1rem; border: 1px solid var(--orange); border-left-width: 5px; }
.findings { list-style: none; margin: 2.6rem 0 0; padding: 0; border-bottom: 1px solid var(--rule); }
.findings li {
  display: grid; grid-template-columns: 8.2rem 1fr; gap: 1.6rem; align-items: baseline;
  max-width: none; padding: .85rem 0; border-top: 1px solid var(--rule);
}
.findings strong { font-size: 1.45rem; font-weight: 600; line-height: 1.1; white-space: nowrap; text-align: right;
                   font-variant-numeric: tabular-nums; letter-spacing: -0.01em; }
.findings span { max-width: 50rem; }

.mfga .line, .ours .line { stroke-width: 2.6; }
.label.mfga, .label.ours { font-weight: 650; }
.mfga { color: var(--blue); } .ours { color: var(--orange); } .rks { color: var(--purple); }
.lkrf { color: var(--green); } .eerf { color: var(--gold); }
.gk, .glk, .constant, .other { color: var(--soft); }
.level .line { stroke-width: 1.3; stroke-dasharray: 7 4; }
.level.glk .line { stroke-dasharray: 12 3 3 3; }
.level.constant .line { stroke-dasharray: 1.5 3.5; stroke-width: 1.8; }

dl.guide { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1.2rem; margin: 1rem 0 0; }
dl.guide dt { font-weight: 600; }
dl.guide dd { margin: 0; }

.facts { margin: 0 0 1.1rem; color: var(--soft); }
.facts::first-letter { text-transform: uppercase; }
caption span { position: sticky; left: 0; display: inline-block; max-width: calc(100vw - 2.2rem); }
th.method { text-align: left; padding-left: 0; position: sticky; left: 0; background: var(--page); }
thead tr:first-child th[colspan] { text-align: center; border-bottom: 1px solid var(--rule); }
.set { padding-left: 1.4rem; }
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

@media screen and (max-width: 48rem) {
  .set { padding-left: .9rem; }
  .findings li { grid-template-columns: 1fr; gap: .15rem; }
  .findings strong { text-align: left; }
  dl.guide { grid-template-columns: 1fr; gap: 0; }
  dl.guide dd { margin-bottom: .6rem; }
}
@media print {
  section { break-inside: avoid; }
  .group th { font-size: 7.2pt; }
  .set { padding-left: .6rem; }
  th.method, caption span { position: static; max-width: none; }
  table, .findings li { break-inside: avoid; }
  .findings { margin-top: 5mm; }
  .findings li { grid-template-columns: 27mm 1fr; padding: .35rem 0; }
  .findings strong { font-size: 1.2rem; }
}
)css";

}  // namespace mfga::repro
