// The end of the dashboard that a page shows: said once, over the last pictures of all its plots;
// and where the page goes on, which a frozen picture has a say in.

import { clock } from './times.js';

const FOLLOWS = 'When its notebook makes a new client, this page goes on with that one.';
const STAYS =
  'A new client has another address: open it by its Diagnostics.url, or from the Dask sidebar of' +
  ' JupyterLab.';
const TAKEN = 'Its notebook has a new cluster, with which the page of an older one goes on.';
const HELD = 'Its notebook has a new cluster; this page stays for the picture that is frozen.';

export class Parting {
  // `successor` is null where there is nobody to ask for one; `go` leaves the page for another.
  constructor(banner, elements, successor, go) {
    this.banner = banner;
    this.elements = elements;
    this.successor = successor;
    this.go = go;
    this.goneAt = null;
    this.next = null; // with which dashboard the page can go on, and the place of that page
    this.isTaken = false; // by the page of another cluster; this one goes there if it is asked to
    this.isLeaving = false;
    this.shown = '';
  }

  update() {
    const all = [...this.elements.values()];
    const isGone = all.some(one => one.isGone) && all.every(one => one.control === null);
    const isThere = !isGone && !all.some(one => one.isAtEnd);
    this.goneAt = isGone ? (this.goneAt ?? new Date()) : null;
    document.body.toggleAttribute('data-gone', isGone);
    this.successor?.attend(isThere, !document.hidden);
    if (isThere) {
      this.next = null;
    }
    if (this.isLeaving) {
      return; // once is enough: each further time the way would begin anew
    }
    if (this.next !== null && !this.isTaken && all.every(one => one.frozenAt === null)) {
      this.isLeaving = true;
      this.leave();
      this.go(this.next.place);
    } else {
      this.say(isGone);
    }
  }

  follow(heir, isTaken) {
    this.next = heir;
    this.isTaken = isTaken;
    this.update();
  }

  // What is another page's this one only visits: it takes nothing over, so that the other can.
  leave() {
    if (!this.isTaken) {
      this.successor.leave(this.next.id);
    }
  }

  say(isGone) {
    const when = isGone ? `${this.ended()} ` : '';
    const isOver = isGone || [...this.elements.values()].some(one => one.isClosed);
    const what = this.next !== null ? (this.isTaken ? TAKEN : HELD) : isOver ? this.hope() : '';
    const words = when + what;
    const href = this.next?.place.href ?? '';
    if (this.shown !== words + href) {
      this.shown = words + href;
      const onward = href ? [' ', link(href, () => this.leave())] : [];
      this.banner.replaceChildren(words, ...onward);
      this.banner.hidden = !words;
    }
  }

  ended() {
    const at = clock(this.goneAt);
    return this.successor
      ? `The cluster was closed at ${at}, or its kernel was stopped.`
      : `Nothing answers at this address since ${at}: its kernel was stopped, or the way there is cut.`;
  }

  hope() {
    return this.successor?.own ? FOLLOWS : STAYS;
  }
}

function link(href, onClick) {
  const element = document.createElement('a');
  element.href = href;
  element.textContent = 'Go on with the new cluster';
  element.addEventListener('click', onClick);
  return element;
}
