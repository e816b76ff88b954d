// Brings one of our own pages to life: its plots, its tabs, its menu. Plots open when they are seen
// for the first time, and cost nothing while they are not.

import { PlotElement, dark, look } from './plot_element.js';
import { Tabs } from './tabs.js';

const elements = new Map(
  [...document.querySelectorAll('.plot')].map(article => [article, new PlotElement(article)])
);

function seenChanged() {
  for (const element of elements.values()) {
    element.seenChanged();
  }
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
dark.addEventListener('change', () => {
  for (const { control } of elements.values()) {
    if (control !== null) {
      control.look = JSON.stringify(look());
    }
  }
});
// The menu of the bar ends with Escape, and with a click beside it.
const menu = document.querySelector('nav details');
document.addEventListener('click', event => {
  if (menu?.open && !menu.contains(event.target)) {
    menu.open = false;
  }
});
menu?.addEventListener('keydown', event => {
  if (event.key === 'Escape') {
    menu.open = false;
    menu.querySelector('summary').focus();
  }
});
