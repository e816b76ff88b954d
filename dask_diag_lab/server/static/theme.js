// Light or dark: as JupyterLab is, which keeps word of it in the browser, else as the system is. Runs
// before anything is painted.

const KEY = 'dask-diag-lab:theme';
const systemDark = window.matchMedia('(prefers-color-scheme: dark)');

// Only a page that came through Jupyter has the word: the browser keeps it for Jupyter's address.
function chosen() {
  try {
    const name = window.localStorage.getItem(KEY);
    return ['dark', 'light'].includes(name) ? name : null;
  } catch (error) {
    console.debug('The theme of JupyterLab is not known:', error.message);
    return null;
  }
}

class Theme extends EventTarget {
  constructor() {
    super();
    this.read();
    systemDark.addEventListener('change', () => this.read());
    // While it waits for the way back in history, a page is told nothing.
    window.addEventListener('pageshow', () => this.read());
    window.addEventListener('storage', event => {
      if (event.key === KEY) {
        this.read();
      }
    });
  }

  read() {
    const name = chosen() ?? (systemDark.matches ? 'dark' : 'light');
    if (name !== this.name) {
      this.name = name;
      document.documentElement.dataset.theme = name;
      this.dispatchEvent(new Event('change'));
    }
  }
}

export const theme = new Theme();
