// Brings one of our own pages to life: its plots, its tabs, its menus. Plots open when they are seen
// for the first time, and cost nothing while they are not.

import { Badge } from './badge.js';
import { Newer } from './newer.js';
import { Parting } from './parting.js';
import { PlotElement, look } from './plot_element.js';
import { Rivals } from './rivals.js';
import { base } from './session.js';
import { Successor } from './successor.js';
import { Tabs } from './tabs.js';
import { theme } from './theme.js';

const articles = [...document.querySelectorAll('.plot')];
const names = articles.map(article => article.dataset.plot);
const successor = Successor.of(base, names, id => new Rivals(id), {
  own: () => parting.update(),
  listed: (own, all) => {
    const ids = all.map(({ id }) => id);
    badge.show(own.id, ids);
    newer.show(own, all);
  },
  next: (heir, isTaken) => parting.follow(heir, isTaken)
});
// A hidden page asks nothing by itself, and its title is seen all the same.
const badge = new Badge(document.querySelector('header .tag'), () => successor?.peek());
const newer = new Newer(
  document.querySelector('.newer'),
  names,
  id => successor.placeAt(id),
  () => articles[0]?.focus()
);
const elements = new Map(
  articles.map(article => [
    article,
    new PlotElement(article, successor !== null, () => parting.update())
  ])
);
const parting = new Parting(document.querySelector('.gone'), elements, successor, place =>
  window.location.replace(place.href)
);
parting.update();

function seenChanged() {
  for (const element of elements.values()) {
    element.seenChanged();
  }
  parting.update();
}

document.querySelectorAll('.tabs').forEach(section => new Tabs(section, seenChanged));
const observer = new IntersectionObserver(
  entries => {
    for (const entry of entries) {
      const element = elements.get(entry.target);
      element.isOnScreen = entry.isIntersecting;
      element.seenChanged();
    }
  },
  { rootMargin: '100px' }
);
for (const article of elements.keys()) {
  observer.observe(article);
}
document.addEventListener('visibilitychange', seenChanged);
theme.addEventListener('change', () => {
  for (const { control } of elements.values()) {
    if (control !== null) {
      control.look = JSON.stringify(look());
    }
  }
});
// The menus of the bar end with Escape, and with a click beside them.
for (const menu of document.querySelectorAll('nav details')) {
  document.addEventListener('click', event => {
    if (menu.open && !menu.contains(event.target)) {
      menu.open = false;
    }
  });
  menu.addEventListener('keydown', event => {
    if (event.key === 'Escape') {
      menu.open = false;
      menu.querySelector('summary').focus();
    }
  });
}
