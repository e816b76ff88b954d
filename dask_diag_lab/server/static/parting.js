// The end of the dashboard that a page shows: said once, over the last pictures of all its plots.

import { clock } from './plot_element.js';

const FOLLOWS = 'When its notebook makes a new client, this page goes on with that one.';
const STAYS =
  'A new client has another address: open it by its Diagnostics.url, or from the Dask sidebar of' +
  ' JupyterLab.';

export class Parting {
  // `successor` is null where there is nobody to ask for one.
  constructor(banner, elements, successor) {
    this.banner = banner;
    this.elements = elements;
    this.successor = successor;
    this.goneAt = null;
  }

  update() {
    const all = [...this.elements.values()];
    const isGone = all.some(one => one.isGone) && all.every(one => one.control === null);
    this.goneAt = isGone ? (this.goneAt ?? new Date()) : null;
    document.body.toggleAttribute('data-gone', isGone);
    const said = isGone ? this.words() : '';
    if (this.banner.textContent !== said) {
      this.banner.textContent = said;
      this.banner.hidden = !said;
    }
    if (!document.hidden && (isGone || all.some(element => element.isAtEnd))) {
      this.successor?.watch();
    } else {
      this.successor?.rest();
    }
  }

  words() {
    const when = clock(this.goneAt);
    const what = `The cluster was closed at ${when}, or its kernel was stopped.`;
    return `${what} ${this.successor?.own ? FOLLOWS : STAYS}`;
  }
}
