"""What a screen reader and weak eyes need of a page, asked of the page itself in the browser."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Everything one acts on has a name; pictures and charts say what they show; ids are there once; headings begin at one
# and leave none out; every list's own children are items; fields that belong together have a name.
RULES = """() => {
  const seen = e => { const s = getComputedStyle(e), r = e.getBoundingClientRect();
    return s.visibility !== 'hidden' && s.display !== 'none' && r.width > 0 && r.height > 0; };
  const text = e => (e.innerText || e.textContent || '').trim();
  const name = e => (e.getAttribute('aria-label') || '').trim()
    || (e.getAttribute('aria-labelledby') || '').split(' ').map(i => document.getElementById(i)).filter(Boolean)
      .map(text).join(' ')
    || (e.labels && [...e.labels].map(text).join(' ')) || (e.closest('label') && text(e.closest('label')))
    || e.title || (e.matches('input, textarea, select') ? e.placeholder || '' : '')
    || [...e.childNodes].filter(n => !(n.matches && n.matches('i, .q-icon'))).map(text).join(' ').trim();
  const every = s => [...document.querySelectorAll(s)].filter(seen);
  const wrong = [];
  const say = (rule, e) => wrong.push(rule + ': ' + e.outerHTML.slice(0, 160));
  for (const e of every('button, a[href], input, textarea, select, [role=button], [role=tab], [role=switch], '
      + '[role=checkbox], [role=combobox]'))
    if (!name(e) && !e.closest('[aria-hidden=true]')) say('no name', e);
  for (const e of every('[role=img], svg[role=group]'))
    if (!e.getAttribute('aria-label') && !e.closest('[aria-hidden=true]')) say('a picture without words', e);
  for (const e of every('img:not([alt])')) say('a picture without words', e);
  const ids = {};
  for (const e of document.querySelectorAll('[id]')) { if (ids[e.id]) say('an id twice', e); ids[e.id] = 1; }
  let before = 0;
  for (const e of every('h1, h2, h3, h4, [role=heading]')) {
    const level = +(e.getAttribute('aria-level') || e.tagName[1]);
    if (level > before + 1 && before) say('a heading left out', e);
    before = level; }
  for (const e of every('fieldset'))
    if (!e.querySelector('legend') || !text(e.querySelector('legend'))) say('fields without a name', e);
  for (const list of every('[role=list]')) for (const e of list.children)
    if (seen(e) && e.getAttribute('role') !== 'listitem' && !e.matches('li, a, button')) say('no item of its list', e);
  for (const e of document.querySelectorAll('[tabindex]'))
    if (+e.getAttribute('tabindex') > 0) say('an order of its own', e);
  if (!document.documentElement.lang) wrong.push('the page says no language');
  return [...new Set(wrong)];
}"""

# The contrast of every text with what is behind it, by WCAG 2: 4.5, or 3 for large text.
CONTRAST = """() => {
  const parts = c => { const m = c.match(/[\\d.]+/g).map(Number); return c.startsWith('color(srgb')
    ? [m[0] * 255, m[1] * 255, m[2] * 255, m[3] ?? 1] : [m[0], m[1], m[2], m[3] ?? 1]; };
  const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const light = c => {
    const f = c.slice(0, 3).map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
    return .2126 * f[0] + .7152 * f[1] + .0722 * f[2]; };
  const behind = e => { const layers = []; let walk = e;
    while (walk) {
      const c = parts(getComputedStyle(walk).backgroundColor);
      if (c[3] > 0) layers.push(c);
      if (c[3] === 1) break;
      walk = walk.parentElement; }
    let found = [255, 255, 255, 1]; for (const c of layers.reverse()) found = over(c, found); return found; };
  const wrong = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement, said = walker.currentNode.textContent.trim();
    if (!said || !e) continue;
    if (e.closest('script, style, svg, canvas, .q-icon, [aria-hidden=true], [disabled], .disabled')) continue;
    const s = getComputedStyle(e), r = e.getBoundingClientRect();
    if (s.visibility === 'hidden' || s.display === 'none' || !r.width || !r.height || +s.opacity < .1) continue;
    const ground = behind(e), ink = over(parts(s.color), ground);
    const a = light(ink), b = light(ground), ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    const size = parseFloat(s.fontSize), large = size >= 24 || (size >= 18.66 && +s.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5) - .05)
      wrong.push(ratio.toFixed(2) + ' ' + said.slice(0, 40) + ' ' + e.outerHTML.slice(0, 90));
  }
  return [...new Set(wrong)];
}"""


def settled(ask: Callable[[], list[str]]) -> list[str]:
    """What is wrong for longer than a page takes to change its colours, or to fill itself."""
    deadline = time.monotonic() + 30
    while (found := ask()) and time.monotonic() < deadline:
        time.sleep(0.3)
    return found


def faults(page: Page) -> list[str]:
    """What a screen reader could not say, or would say wrongly."""
    found: list[str] = page.evaluate(RULES)
    return found


def pale(page: Page) -> list[str]:
    """Texts that are hard to read on their ground."""
    found: list[str] = page.evaluate(CONTRAST)
    return found
