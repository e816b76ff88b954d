/** Tabs of several plots in one place, after the ARIA pattern: arrows go from one to the next. */

/** Make the tabs of a list, which the server wrote, choose their panels. */
export function followTabs(list: HTMLElement): void {
  const tabs = [...list.querySelectorAll<HTMLElement>('[role="tab"]')];
  const last = tabs.length - 1;
  const choose = (chosen: HTMLElement): void => {
    for (const tab of tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      const panel = document.getElementById(tab.getAttribute('aria-controls') ?? '');
      panel?.toggleAttribute('hidden', !isChosen);
    }
    chosen.focus();
  };
  tabs.forEach((tab, i) => {
    tab.addEventListener('click', () => choose(tab));
    tab.addEventListener('keydown', event => {
      const targets: Readonly<Record<string, HTMLElement | undefined>> = {
        ArrowRight: tabs[i === last ? 0 : i + 1],
        ArrowLeft: tabs[i === 0 ? last : i - 1],
        Home: tabs[0],
        End: tabs[last]
      };
      const target = targets[event.key];
      if (target !== undefined) {
        event.preventDefault();
        choose(target);
      }
    });
  });
}
