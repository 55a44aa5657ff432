#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check.py WRITER: writes a page, uses it as a reader would in a browser without a window, compares what it says.

Ends with 77 where there is no Chromium.
"""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Each step is a line of script and what the page then says.
STEPS = [
    ("address()", "#layer=1&head=2&query=3&key=1"),  # it was opened there
    ("said('reading')", ". (3) reads \u00b7one (1) with weight 0.3906"),  # (1 + 4 + 12 + 8) / 64
    ("said('chosen')", "Layer 1, head 2: broad"),
    ("press(document, 'h'), address()", "#layer=1&head=0&query=3&key=1"),
    ("press(document, 'h', {shiftKey: true}), address()", "#layer=1&head=2&query=3&key=1"),
    ("press(document, 'l'), said('reading')", ". (3) reads \u00b7one (1) with weight 0.3750"),
    ("press(document, 'l', {ctrlKey: true}), address()", "#layer=0&head=2&query=3&key=1"),
    ("press(large, 'ArrowUp'), press(large, 'ArrowRight'), said('reading')",
     "</script><script>broken=true</script> (2) reads </script><script>broken=true</script> (2) with weight 0.4375"),
    ("press(large, 'Escape'), address()", "#layer=0&head=2"),
    ("at('tip').hidden", "true"),
    ("point(0.9, 0.1), said('tip')", "0.4375query <s> (0)key . (3)"),  # (4 + 24) / 64
    ("point(0.9, 0.1, 'click'), address()", "#layer=0&head=2&query=0&key=3"),
    ("large.dispatchEvent(new PointerEvent('pointerleave')), said('reading')", "<s> (0) reads what is shaded:"),
    ("at('keys').children[2].click(), address()", "#layer=0&head=2&query=2"),
    ("at('keys').textContent", "<s> one</script><script>broken=true</script>."),
    ("at('keys').children[0].style.background !== at('keys').children[3].style.background", "true"),
    ("all('#heads button')[1].click(), address()", "#layer=0&head=1&query=2"),
    ("press(all('#heads button')[1], 'ArrowLeft'), document.activeElement.textContent", "head 0broad"),
    ("all('#habits button')[5].click(), address()", "#layer=1&head=2&query=2"),
    ("all('#habits tbody tr').filter(row => !row.hidden).length", "3"),
    ("at('every').click(), all('#habits tbody tr').filter(row => !row.hidden).length", "6"),
    ("at('layer').value = 0, at('layer').dispatchEvent(new Event('input')), address()", "#layer=0&head=2&query=2"),
    # 0 keeps its colour where the scale changes, 0.375 does not
    ("const zero = pixel(0, 0), more = pixel(2, 2); at('linear').click(); zero === pixel(0, 0) && more !== pixel(2, 2)",
     "true"),
    ("typeof broken", "undefined"),
]

DRIVER = """
<script>
const at = id => document.getElementById(id), all = what => [...document.querySelectorAll(what)], large = at('large');
const said = id => at(id).textContent, address = () => location.hash;
const press = (where, key, more) => where.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, ...more}));
const point = (x, y, kind = 'pointermove') => {  // x and y: 0 to 1 from the left and the top of the cells
  const box = large.getBoundingClientRect(), side = 34 * 4;  // pixels, as large as cells get
  large.dispatchEvent(new PointerEvent(kind, {clientX: box.left + labels() + side * x,
                                             clientY: box.top + box.height - 1 - side * (1 - y), bubbles: true}));
};
// the width of the labels on the left, which equals the height of those on top: the same tokens
const labels = () => large.getBoundingClientRect().height - 1 - 34 * 4;
const pixel = (x, y) => [...all('#heads canvas')[0].getContext('2d').getImageData(x, y, 1, 1).data].join();
const results = [];
for (const step of STEPS) {
  try { results.push(String(eval(step))); } catch (failure) { results.push('failed: ' + failure); }
}
document.body.textContent = '';
const shown = Object.assign(document.createElement('pre'), {id: 'results', textContent: JSON.stringify(results)});
document.body.append(shown);
</script>
"""


def main():
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser:
        print("skipped: there is no Chromium")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "page.html"
        subprocess.run([sys.argv[1], str(path)], check=True)
        page = path.read_text(encoding="utf-8")
        # the driver evaluates its steps, which the page itself never does and forbids
        page = page.replace("script-src 'unsafe-inline'", "script-src 'unsafe-inline' 'unsafe-eval'")
        steps = json.dumps([step for step, _ in STEPS]).replace("</", "<\\/")
        path.write_text(page + DRIVER.replace("STEPS", steps), encoding="utf-8")
        line = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile",
                "--window-size=1200,900", "--dump-dom", path.as_uri() + "#layer=1&head=2&query=3&key=1"]
        shown = subprocess.run(line, capture_output=True, text=True, timeout=120)
    found = re.search(r'<pre id="results">(.*?)</pre>', shown.stdout, re.DOTALL)
    if not found:
        print("the page did not get to its end:", shown.stdout[-2000:], shown.stderr[-2000:], sep="\n")
        return 1
    results = json.loads(html.unescape(found.group(1)))
    wrong = [(step, wanted, got) for (step, wanted), got in zip(STEPS, results) if got != wanted]
    for step, wanted, got in wrong:
        print(f"{step}\n  says   {got}\n  wanted {wanted}")
    return 1 if wrong or len(results) != len(STEPS) else 0


if __name__ == "__main__":
    sys.exit(main())
