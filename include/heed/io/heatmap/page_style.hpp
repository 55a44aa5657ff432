// SPDX-License-Identifier: BSL-1.0
// In: nothing. Out: the fixed parts of the page: its style sheet and the places that the script fills.
// Next to read: page_script.hpp.
#pragma once

#include <string_view>

namespace heed::detail {

inline constexpr std::string_view page_style = R"css(
:root { color-scheme: light dark; --paper: #fcfcfa; --card: #fff; --ink: #1c2330; --quiet: #5b6472; --line: #dcdfe4;
  --accent: #b3480f; --bar: #cfe0ef; --tip: #1c2330; --tip-ink: #fff; }
@media (prefers-color-scheme: dark) { :root { --paper: #12151b; --card: #1a1e26; --ink: #e8eaee; --quiet: #a4acb8;
  --line: #333a45; --accent: #ffab73; --bar: #2c4a63; --tip: #f2f3f5; --tip-ink: #12151b; } }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0 auto; max-width: 1240px; padding: 20px clamp(12px, 3vw, 32px) 40px; background: var(--paper);
  color: var(--ink); font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { margin: 0; font-size: 1.5rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 0 0 8px; font-size: 1rem; font-weight: 600; }
header p { margin: 4px 0 0; max-width: 46rem; overflow-wrap: anywhere; }
.quiet { color: var(--quiet); font-size: .875rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }

#controls { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; align-items: center;
  gap: 6px 26px; margin: 14px 0 18px; padding: 9px 0; background: var(--paper); border-block: 1px solid var(--line); }
#controls label { display: flex; align-items: center; gap: 8px; }
#controls input { accent-color: var(--accent); margin: 0; }
#controls input[type=range] { width: 130px; }
#controls output { min-width: 1.5em; font-variant-numeric: tabular-nums; font-weight: 600; }
#scale { margin-left: auto; width: 232px; height: 30px; }

.maps { display: grid; grid-template-columns: minmax(250px, 38fr) 62fr; gap: 28px; align-items: start; }
.maps > * { min-width: 0; }
.maps > [hidden] + * { grid-column: 1 / -1; max-width: 900px; }
#heads { display: grid; grid-template-columns: repeat(auto-fill, minmax(118px, 1fr)); gap: 12px; }
#heads button { display: block; width: 100%; padding: 6px; border: 1px solid var(--line); border-radius: 7px;
  background: var(--card); color: inherit; font: inherit; text-align: left; cursor: pointer; }
#heads button[aria-pressed=true] { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
#heads canvas { display: block; width: 100%; border-radius: 3px; }
#heads canvas.sharp { image-rendering: pixelated; }
#heads b { display: block; margin-top: 4px; font-size: .8125rem; line-height: 1.3; }
#heads span { display: block; min-height: 1.3em; color: var(--quiet); font-size: .75rem; line-height: 1.3; }

#stage { position: relative; }
#large { display: block; width: 100%; touch-action: pan-y; cursor: crosshair; border-radius: 4px; }
#tip { position: absolute; z-index: 1; max-width: 15em; padding: 5px 9px; border-radius: 6px; background: var(--tip);
  color: var(--tip-ink); font-size: .8125rem; line-height: 1.35; pointer-events: none; white-space: nowrap;
  box-shadow: 0 2px 10px #0005; }
#tip div { overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate; }
#tip b { display: block; font-size: .9375rem; font-variant-numeric: tabular-nums; }
#reading { min-height: 1.45em; margin: 8px 0; overflow-wrap: anywhere; }
.strip { margin: 0; line-height: 1.75; overflow-wrap: break-word; }
.strip + .strip { margin-top: 8px; }
.strip span { padding: 2px 0; border-radius: 2px; unicode-bidi: isolate; }
.strip .query { cursor: pointer; }
.strip .chosen { outline: 2px solid var(--accent); outline-offset: 1px; }

.below { margin-top: 30px; }
.scroll { overflow-x: auto; }
table { width: 100%; table-layout: fixed; border-collapse: collapse; font-size: .875rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: 4px 8px; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child { width: 6.5em; }
th:nth-child(2) { width: 10em; }
thead th { color: var(--quiet); font-weight: 500; }
th:first-child, th:nth-child(2), td.name { text-align: left; }
td[style] { background: linear-gradient(var(--bar), var(--bar)) 0 50% / calc(var(--part) * 100%) 76% no-repeat; }
tbody button { min-width: 3.2em; padding: 1px 6px; border: 1px solid var(--line); border-radius: 5px; background: none;
  color: inherit; font: inherit; font-weight: 600; cursor: pointer; }
tr.chosen button { background: var(--accent); border-color: var(--accent); color: var(--paper); }
.brief { display: none; }
.below > p { max-width: 60rem; }
kbd { padding: 0 5px; border: 1px solid var(--line); border-radius: 4px; font: .8125rem ui-monospace, monospace; }

@media (max-width: 760px) {
  .maps { grid-template-columns: minmax(0, 1fr); gap: 20px; }
  #heads { grid-template-columns: repeat(auto-fill, minmax(78px, 1fr)); gap: 7px; }
  #heads button { padding: 4px; }
  #heads span { min-height: 2.6em; }
  #controls { gap: 4px 16px; }
  #controls input[type=range] { width: 92px; }
  #scale { margin-left: 0; }
  th, td { padding: 4px 2px; font-size: .75rem; }
  th:first-child { width: 3.4em; }
  th:nth-child(2) { width: 6em; }
  tbody button { min-width: 2.6em; padding: 3px; }
  .full { display: none; }
  .brief { display: inline; }
}
)css";

inline constexpr std::string_view page_controls =
    R"html(<label><input type="checkbox" id="linear"> linear colours</label>
<canvas id="scale" role="img" aria-label="The colours from weight 0 to weight 1"></canvas>
)html";

inline constexpr std::string_view page_maps = R"html(<main>
<div class="maps">
<div id="heads" role="group" aria-label="A map for each head"></div>
<section aria-labelledby="chosen">
<h2 id="chosen"></h2>
<div id="stage"><canvas id="large" tabindex="0" role="img" aria-describedby="reading"></canvas><div id="tip" hidden></div></div>
<p id="reading" role="status"></p>
<p class="strip" id="keys"></p>
<p class="strip" id="queries" hidden></p>
</section>
</div>
<section class="below">
<h2>What the heads do</h2>
<label class="quiet" id="every-label" hidden><input type="checkbox" id="every"> every layer</label>
<div class="scroll">)html";

inline constexpr std::string_view page_legend = R"html(</div>
<p class="quiet">Mean weight, over the queries, on the key at the query's own place, before it and behind it, on the
first key, and on all separators together. Entropy in bits; its bar is full where a head spreads evenly over all it can
reach. A habit is named after the largest mean if that is 0.4 or more; else it is broad where
the entropy's bar is nearly full, and nearby where the first three means add up to 0.5 or more.</p>
<p class="quiet"><kbd>h</kbd> next head, <kbd>l</kbd> next layer, with shift the one before. Arrow keys move through the
maps: through the heads on the left, through the tokens in the large map. A click pins a query.</p>
</section>
</main>
)html";

}  // namespace heed::detail
