// A newer cluster of the same notebook, that began while the page's own lived: said in a line, with
// a way there. The page never goes by itself. JupyterLab's panes keep the same rule
// (src/model/newer.ts), and both are tested by the same cases (src/test/newers.ts). But Lab goes on
// where a page cannot: it knows notebooks, and so offers a cluster of the notebook's next kernel; and
// it offers what comes once its own has ended or left the list, of which here successor.js tells.

import { showTag } from './badge.js';

const MEMORY = 'dask-diag-lab:passed';
const REMEMBERED = 20; // clusters that a page has passed by

// Return the others of the same kernel, from all there are.
function kinOf(own, all) {
  return all.filter(
    one => one.id !== own.id && own.kernel_id !== null && one.kernel_id === own.kernel_id
  );
}

// Whether it can show one of the plots now.
function hasOneOf(plots, { kind, state, plots: its }) {
  const isReady = kind === 'diagnostics' && state === 'live' && Array.isArray(its);
  return isReady && its.some(({ name }) => plots.includes(name));
}

// What this tab has passed by; null where it has just come to its cluster.
function remembered(own) {
  try {
    const memory = JSON.parse(window.sessionStorage.getItem(MEMORY));
    return memory?.own === own && Array.isArray(memory.ids) ? memory.ids : null;
  } catch (error) {
    console.debug('Which clusters this tab has refused is not known:', error.message);
    return null;
  }
}

function part(tag, values) {
  return Object.assign(document.createElement(tag), values);
}

export class Newer {
  // `plots`: the names of those on the page. `placeOf(id)`: the same page of another dashboard.
  // `onStay`: somebody does not want it, and the focus has to go somewhere.
  constructor(element, plots, placeOf, onStay) {
    this.element = element;
    this.plots = plots;
    this.placeOf = placeOf;
    this.onStay = onStay;
    this.own = null;
    this.offered = null; // the id of the one that is shown
    this.passed = null; // not offered: was there when the page came to its own, or was refused
    this.tag = part('span', { className: 'tag' });
    this.link = part('a', { textContent: 'Show it' });
    const stay = part('button', { type: 'button', title: 'Stay with this cluster', textContent: '✕' });
    stay.setAttribute('aria-label', stay.title);
    stay.addEventListener('click', () => this.stay());
    const words = part('span', { textContent: 'Newer cluster in this notebook' });
    element.replaceChildren(words, this.tag, this.link, stay);
  }

  // Of all that are listed, in the order in which they began, `own` is the page's, or has been.
  show(own, all) {
    const kin = kinOf(own, all);
    if (this.passed === null) {
      this.own = own.id;
      const there = kin.filter(one => one.state !== 'stale');
      this.pass(remembered(own.id) ?? there.map(({ id }) => id));
    }
    const isThere = own.state !== 'stale' && all.includes(own);
    const later = kin.filter(one => all.indexOf(one) > all.indexOf(own));
    const newest = later.filter(one => hasOneOf(this.plots, one)).pop();
    const isOffered =
      newest !== undefined &&
      !this.passed.includes(newest.id) &&
      (isThere || newest.id === this.offered);
    this.offered = isOffered ? newest.id : null;
    if (isOffered) {
      this.link.href = this.placeOf(newest.id).href;
      const ids = all.map(({ id }) => id);
      showTag(this.tag, newest.id, ids);
    }
    this.element.hidden = !isOffered;
  }

  stay() {
    this.pass([...this.passed, this.offered]);
    this.element.hidden = true;
    this.onStay();
  }

  // For as long as this tab shows its cluster, also when it is loaded again.
  pass(ids) {
    this.passed = ids.slice(-REMEMBERED);
    try {
      const memory = { own: this.own, ids: this.passed };
      window.sessionStorage.setItem(MEMORY, JSON.stringify(memory));
    } catch (error) {
      console.debug('Which clusters this tab has refused is not kept:', error.message);
    }
  }
}
