/** How to read a plot, as the catalogue writes it: paragraphs, and lines that begin with "- ". */

import { h } from './dom';

const ITEM = /^- +/;
/** What such a line is about ends at its first colon. */
const ABOUT = /^([^:]{1,60}): +(.+)$/;

/** Return the elements of a help text; what is in it is text, never HTML. */
export function helpText(text: string): HTMLElement[] {
  const made: HTMLElement[] = [];
  for (const block of blocksOf(text)) {
    if (!ITEM.test(block)) {
      made.push(h('p', {}, block));
      continue;
    }
    const last = made[made.length - 1];
    const list = last instanceof HTMLUListElement ? last : h('ul', {});
    list.append(item(block.replace(ITEM, '')));
    if (list !== last) {
      made.push(list);
    }
  }
  return made;
}

/** Part a text at blank lines and before items; the lines of a block are joined. */
function blocksOf(text: string): string[] {
  const parts = text.split(/\n\s*\n|\n(?=\s*- )/);
  return parts.map(part => part.trim().replace(/\s*\n\s*/g, ' ')).filter(Boolean);
}

function item(words: string): HTMLElement {
  const [, about, rest] = ABOUT.exec(words) ?? [];
  if (about === undefined || rest === undefined) {
    return h('li', {}, words);
  }
  return h('li', {}, h('b', {}, about), `: ${rest}`);
}
