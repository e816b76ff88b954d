/** The parts of a page around its plots: menus, and tabs of several plots in one place. */

import { recall, remember, storageKey } from '../plot/look';

/** The menus of the bar end with Escape, and with a click beside them. */
export function followMenus(): void {
  for (const menu of document.querySelectorAll<HTMLDetailsElement>('nav details')) {
    document.addEventListener('click', ({ target }) => {
      if (menu.open && !(target instanceof Node && menu.contains(target))) {
        menu.open = false;
      }
    });
    menu.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape') {
        menu.open = false;
        menu.querySelector('summary')?.focus();
      }
    });
  }
}

/** Tabs after the ARIA pattern: one stop of the Tab key, arrows go from one to the next. */
export function followTabs(list: HTMLElement, base: string): void {
  const tabs = [...list.querySelectorAll<HTMLElement>('[role="tab"]')];
  const memory = storageKey(`tab:${list.getAttribute('aria-label') ?? ''}`, base);
  const choose = (chosen: HTMLElement | undefined): void => {
    for (const tab of tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      const panel = document.getElementById(tab.getAttribute('aria-controls') ?? '');
      panel?.toggleAttribute('hidden', !isChosen);
    }
    if (chosen !== undefined) {
      remember(memory, chosen.id);
    }
  };
  tabs.forEach((tab, i) => {
    tab.addEventListener('click', () => choose(tab));
    tab.addEventListener('keydown', event => {
      const { length } = tabs;
      const steps = { ArrowRight: i + 1, ArrowLeft: i + length - 1, Home: 0, End: length - 1 };
      const step = (steps as Readonly<Record<string, number>>)[event.key]; // any key
      const next = step === undefined ? undefined : tabs[step % length];
      if (next !== undefined) {
        event.preventDefault();
        choose(next);
        next.focus();
      }
    });
  });
  const kept = recall(memory);
  choose(tabs.find(tab => tab.id === kept) ?? tabs[0]);
}
