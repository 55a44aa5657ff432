// SPDX-License-Identifier: BSL-1.0
// In: nothing. Out: the script of the page. It draws what the elements `data` and `weights` hold, and keeps what is
// looked at in the address (#layer=1&head=3&query=7&key=6), so that a view can be kept as a link.
// It puts labels into the page as text only. Next to read: ../heatmap.hpp.
#pragma once

#include <string_view>

namespace heed::detail {

inline constexpr std::string_view page_script = R"js(
'use strict';
(() => {
const at = id => document.getElementById(id);
const {layers, heads, rows, columns, queries: named, keys, light, dark} = JSON.parse(at('data').textContent);
const bytes = atob(at('weights').textContent);
const own = named.length === 0;               // the queries are the last of the keys
const first = own ? columns - rows : 0;       // the place of the first query among the keys
const queries = own ? keys.slice(first) : named;
const table = [...document.querySelectorAll('#habits tbody tr')];
const darkness = matchMedia('(prefers-color-scheme: dark)');
const now = {layer: 0, head: 0, query: -1, key: -1, pinned: -1, linear: false};

const weight = (head, query, key) => {
  const place = 2 * (((now.layer * heads + head) * rows + query) * columns + key);
  return (bytes.charCodeAt(place) + 256 * bytes.charCodeAt(place + 1)) / 65535;
};
const within = (value, count) => Math.min(Math.max(value, 0), count - 1);
const habit = head => table[now.layer * heads + head].querySelector('.name').textContent;
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name);
const colours = text => Array.from({length: 256}, (_, step) =>
  [0, 2, 4].map(digit => parseInt(text.slice(6 * step + digit, 6 * step + digit + 2), 16)));
const ramps = {light: colours(light), dark: colours(dark)};
const shade = part => (darkness.matches ? ramps.dark : ramps.light)[Math.round((now.linear ? part : Math.sqrt(part)) * 255)];

// One pixel for each weight.
function pixels(canvas, head) {
  canvas.width = columns;
  canvas.height = rows;
  const pen = canvas.getContext('2d'), image = pen.createImageData(columns, rows);
  for (let query = 0, place = 0; query < rows; ++query)
    for (let key = 0; key < columns; ++key, place += 4)
      image.data.set([...shade(weight(head, query, key)), 255], place);
  pen.putImageData(image, 0, 0);
}

// A canvas of `width` x `height` CSS pixels in the resolution of the screen.
function pen_on(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = height + 'px';
  const pen = canvas.getContext('2d');
  pen.scale(ratio, ratio);
  return pen;
}

const buttons = Array.from({length: heads}, (_, head) => {
  const button = document.createElement('button'), canvas = document.createElement('canvas');
  const number = document.createElement('b'), name = document.createElement('span');
  button.type = 'button';
  number.textContent = 'head ' + head;
  button.append(canvas, number, name);
  button.addEventListener('click', () => choose({head}));
  at('heads').append(button);
  return {button, canvas, name};
});

function draw_small() {
  buttons.forEach(({button, canvas, name}, head) => {
    pixels(canvas, head);
    canvas.className = canvas.clientWidth >= columns ? 'sharp' : '';
    name.textContent = habit(head);
    button.setAttribute('aria-pressed', head === now.head);
    button.tabIndex = head === now.head ? 0 : -1;
  });
  table.forEach(row => {
    const here = +row.dataset.layer === now.layer;
    row.hidden = !here && !at('every').checked;
    row.classList.toggle('chosen', here && +row.dataset.head === now.head);
  });
}

const place = {};  // of the cells on the large canvas
const font = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

function shortened(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let letters = Array.from(text);
  while (letters.length > 1 && pen.measureText(letters.join('') + '\u2026').width > width) letters.pop();
  return letters.join('') + '\u2026';
}

function draw_large() {
  const canvas = at('large'), width = at('stage').clientWidth, most = Math.min(110, width * 0.24);
  let pen = canvas.getContext('2d');
  pen.font = font;
  const longest = labels => Math.min(most, Math.max(...labels.map(text => pen.measureText(text).width))) + 10;
  place.left = longest(queries);
  place.top = longest(keys);
  place.cell = Math.min((width - place.left - 1) / columns, 34);
  const {left, top, cell} = place, right = left + cell * columns, bottom = top + cell * rows;
  pen = pen_on(canvas, width, bottom + 1);
  pen.font = font;
  pen.imageSmoothingEnabled = cell < 1;
  const whole = document.createElement('canvas');
  pixels(whole, now.head);
  pen.drawImage(whole, left, top, right - left, bottom - top);
  pen.strokeStyle = colour('--line');
  pen.strokeRect(left - 0.5, top - 0.5, right - left + 1, bottom - top + 1);

  const query = now.query, key = now.key;
  pen.strokeStyle = colour('--accent');
  pen.lineWidth = 1.5;
  if (query >= 0) pen.strokeRect(left, top + query * cell, right - left, cell);
  if (key >= 0) pen.strokeRect(left + key * cell, top, cell, bottom - top);

  // As many labels as fit; those of the chosen query and key always, and nothing that would touch them.
  const every = Math.max(1, Math.ceil(12.5 / cell));
  const label = (text, chosen, draw) => {
    pen.fillStyle = colour(chosen ? '--accent' : '--ink');
    pen.font = (chosen ? '600 ' : '') + font;
    draw(shortened(pen, text, most));
  };
  const near = (one, other) => other >= 0 && one !== other && Math.abs(one - other) * cell < 12.5;
  pen.textBaseline = 'middle';
  queries.forEach((text, row) => {
    if ((row % every && row !== query) || near(row, query)) return;
    pen.textAlign = 'right';
    label(text, row === query, shown => pen.fillText(shown, left - 6, top + (row + 0.5) * cell));
  });
  keys.forEach((text, column) => {
    if ((column % every && column !== key) || near(column, key)) return;
    pen.save();
    pen.translate(left + (column + 0.5) * cell, top - 6);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = 'left';
    label(text, column === key, shown => pen.fillText(shown, 0, 0));
    pen.restore();
  });

  const title = (layers > 1 ? 'Layer ' + now.layer + ', head ' : 'Head ') + now.head;
  at('chosen').textContent = title + ': ' + habit(now.head);
  canvas.setAttribute('aria-label', title + ': ' + rows + ' queries, one a row, by ' + columns + ' keys. Arrow keys move.');
}

function draw_reading() {
  const tip = at('tip'), {query, key} = now;
  tip.hidden = query < 0 || key < 0;
  const which = (text, number) => text + ' (' + number + ')';
  if (tip.hidden) {
    at('reading').textContent = query < 0 ? 'Point at a cell, or at a token below, to see what is read.'
                                          : which(queries[query], first + query) + ' reads what is shaded:';
  } else {
    const share = weight(now.head, query, key).toFixed(4);
    const line = text => Object.assign(document.createElement('div'), {textContent: text});
    const number = Object.assign(document.createElement('b'), {textContent: share});
    tip.replaceChildren(number, line('query ' + which(queries[query], first + query)), line('key ' + which(keys[key], key)));
    at('reading').textContent = which(queries[query], first + query) + ' reads ' + which(keys[key], key) + ' with weight ' + share;
    const x = place.left + (key + 0.5) * place.cell, y = place.top + (query + 0.5) * place.cell;
    const away = place.cell / 2 + 10, width = at('stage').clientWidth;
    tip.style.left = (x + away + tip.offsetWidth < width ? x + away : Math.max(0, x - away - tip.offsetWidth)) + 'px';
    tip.style.top = Math.max(0, y - tip.offsetHeight - away / 2) + 'px';
  }
}

function token(text, chosen) {
  const span = document.createElement('span');
  const word = text.length > 1 && text.startsWith('\u00b7');
  span.textContent = word ? text.slice(1) : text;
  span.className = chosen ? 'chosen' : '';
  return {span, apart: word ? [' ', span] : [span]};
}

// The text, shaded by what the chosen query reads of it.
function draw_strips() {
  const pick = (span, query) => {
    span.classList.add('query');
    span.addEventListener('click', () => look({query, key: -1, pinned: query}));
  };
  at('keys').replaceChildren(...keys.flatMap((text, key) => {
    const {span, apart} = token(text, own && now.query >= 0 && key === first + now.query);
    if (now.query >= 0) {
      const part = weight(now.head, now.query, key), back = shade(part);
      span.style.background = 'rgb(' + back + ')';
      span.style.color = 0.3 * back[0] + 0.59 * back[1] + 0.11 * back[2] > 130 ? '#111' : '#fff';
      span.title = part.toFixed(4);
    }
    if (own && key >= first) pick(span, key - first);
    return apart;
  }));
  at('queries').hidden = own;
  if (!own) at('queries').replaceChildren('queries:', ...queries.flatMap((text, query) => {
    const {span} = token(text, query === now.query);
    pick(span, query);
    return [' ', span];
  }));
}

function draw_scale() {
  const canvas = at('scale'), width = canvas.clientWidth, pen = pen_on(canvas, width, 30), from = 8, long = width - 26;
  for (let x = 0; x < long; ++x) {
    const part = x / (long - 1);
    pen.fillStyle = 'rgb(' + shade(now.linear ? part : part * part) + ')';
    pen.fillRect(from + x, 2, 1.5, 10);
  }
  pen.strokeStyle = colour('--line');
  pen.strokeRect(from - 0.5, 1.5, long + 1.5, 11);
  pen.fillStyle = colour('--quiet');
  pen.font = font;
  pen.textAlign = 'center';
  for (const part of now.linear ? [0, 0.25, 0.5, 0.75, 1] : [0, 0.05, 0.25, 0.5, 1])
    pen.fillText(part, from + long * (now.linear ? part : Math.sqrt(part)), 26);
}

function remember() {
  const parts = ['layer=' + now.layer, 'head=' + now.head];
  if (now.pinned >= 0) parts.push('query=' + now.pinned);
  if (now.pinned >= 0 && now.key >= 0) parts.push('key=' + now.key);
  try { history.replaceState(null, '', '#' + parts.join('&')); } catch (refused) { /* the page works without */ }
}

// Another cell of the same maps.
function look(change) {
  Object.assign(now, change);
  draw_large();
  draw_reading();
  draw_strips();
  if ('pinned' in change) remember();
}

// Another map.
function choose(change) {
  Object.assign(now, change);
  now.layer = within(now.layer, layers);
  now.head = within(now.head, heads);
  for (const name of ['layer', 'head']) at(name).value = at(name + '-shown').textContent = now[name];
  draw_small();
  draw_scale();
  look({});
  remember();
}

function open_address() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const number = (name, count, otherwise) => {
    const value = parseInt(wanted.get(name), 10);
    return Number.isNaN(value) ? otherwise : within(value, count);
  };
  const query = number('query', rows, -1);
  choose({layer: number('layer', layers, 0), head: number('head', heads, 0), query, pinned: query,
          key: query < 0 ? -1 : number('key', columns, -1)});
}

function cell_under(event) {
  const box = at('large').getBoundingClientRect();
  const key = Math.floor((event.clientX - box.left - place.left) / place.cell);
  const query = Math.floor((event.clientY - box.top - place.top) / place.cell);
  return key >= 0 && key < columns && query >= 0 && query < rows ? {query, key} : null;
}
at('large').addEventListener('pointermove', event => {
  const cell = cell_under(event) || {query: now.pinned, key: -1};
  if (cell.query !== now.query || cell.key !== now.key) look(cell);
});
at('large').addEventListener('pointerleave', event => {
  if (event.pointerType !== 'touch') look({query: now.pinned, key: -1});
});
at('large').addEventListener('click', event => {
  const cell = cell_under(event);
  look(cell ? {...cell, pinned: cell.query} : {query: -1, key: -1, pinned: -1});
});

const arrows = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};
at('large').addEventListener('keydown', event => {
  if (event.key === 'Escape') return look({query: -1, key: -1, pinned: -1});
  const step = arrows[event.key];
  if (!step) return;
  event.preventDefault();
  const query = now.query < 0 ? 0 : within(now.query + step[0], rows);
  look({query, key: now.key < 0 ? 0 : within(now.key + step[1], columns), pinned: query});
});
at('heads').addEventListener('keydown', event => {
  const step = arrows[event.key];
  if (!step) return;
  event.preventDefault();
  const tops = buttons.map(({button}) => button.offsetTop), across = tops.filter(top => top === tops[0]).length;
  const head = now.head + step[0] * across + step[1];
  if (head < 0 || head >= heads) return;
  choose({head});
  buttons[head].button.focus();
});
document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const step = event.shiftKey ? -1 : 1;
  if (event.key.toLowerCase() === 'h') choose({head: (now.head + step + heads) % heads});
  if (event.key.toLowerCase() === 'l') choose({layer: (now.layer + step + layers) % layers});
});
for (const name of ['layer', 'head']) at(name).addEventListener('input', event => choose({[name]: +event.target.value}));
at('linear').addEventListener('change', event => choose({linear: event.target.checked}));
at('every').addEventListener('change', draw_small);
at('every-label').hidden = layers === 1;
at('heads').hidden = heads === 1;
table.forEach(row => row.addEventListener('click', () => choose({layer: +row.dataset.layer, head: +row.dataset.head})));
at('controls').addEventListener('submit', event => event.preventDefault());
darkness.addEventListener('change', () => choose({}));
addEventListener('resize', () => choose({}));
addEventListener('hashchange', open_address);
open_address();
})();
)js";

}  // namespace heed::detail
