// Several plots in one place of a page, of which one is seen; remembers which.

// Tabs after the ARIA pattern: one stop for the Tab key, arrows go from one to the next.
export class Tabs {
  constructor(section, onChange) {
    this.onChange = onChange;
    this.tabs = [...section.querySelectorAll('[role="tab"]')];
    this.memory = `dask-diag-lab:tab:${section.querySelector('[role="tablist"]').ariaLabel}`;
    this.tabs.forEach((tab, index) => {
      tab.addEventListener('click', () => this.choose(index));
      tab.addEventListener('keydown', event => this.key(event, index));
    });
    const remembered = this.tabs.findIndex(tab => tab.id === this.remembered());
    this.choose(Math.max(remembered, 0));
  }

  remembered() {
    try {
      return window.localStorage.getItem(this.memory);
    } catch (error) {
      return null; // storage is switched off: the first tab
    }
  }

  remember(id) {
    try {
      window.localStorage.setItem(this.memory, id);
    } catch (error) {
      console.debug('The tab is not remembered:', error.message);
    }
  }

  choose(chosen) {
    this.tabs.forEach((tab, index) => {
      tab.ariaSelected = String(index === chosen);
      tab.tabIndex = index === chosen ? 0 : -1;
      document.getElementById(tab.getAttribute('aria-controls')).hidden = index !== chosen;
    });
    this.remember(this.tabs[chosen].id);
    this.onChange();
  }

  key(event, index) {
    const last = this.tabs.length - 1;
    const next = {
      ArrowRight: index === last ? 0 : index + 1,
      ArrowLeft: index === 0 ? last : index - 1,
      Home: 0,
      End: last
    }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      this.choose(next);
      this.tabs[next].focus();
    }
  }
}
