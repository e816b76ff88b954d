/** Light or dark: as JupyterLab is, which keeps it in the browser, else as the system is. */

import { storageKey } from '../plot/look';

const systemDark = window.matchMedia('(prefers-color-scheme: dark)');

/**
 * Give the page its theme now and whenever it changes.
 *
 * @param jupyterPath - of the server that relays the page; only its Lab's theme counts.
 * @param onChanged - called after each change.
 */
export function followTheme(jupyterPath: string | null, onChanged: () => void): void {
  const read = (): void => {
    const kept = jupyterPath && window.localStorage.getItem(storageKey('theme', jupyterPath));
    const theme = kept ?? (systemDark.matches ? 'dark' : 'light');
    const { style } = document.documentElement;
    if (style.colorScheme !== theme) {
      style.colorScheme = theme;
      onChanged();
    }
  };
  read();
  systemDark.addEventListener('change', read);
  window.addEventListener('pageshow', read); // while it waits in the history, a page hears nothing
  window.addEventListener('storage', read);
}
