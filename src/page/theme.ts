/** Light or dark: as JupyterLab is, which keeps it in the browser, else as the system is. */

import { recall, storageKey } from '../plot/look';

const systemDark = window.matchMedia('(prefers-color-scheme: dark)');

/**
 * Give the page its theme now and whenever it changes.
 *
 * @param jupyterPath - of the server that relays the page; only its Lab's theme counts.
 * @param onChanged - called after each change.
 */
export function followTheme(jupyterPath: string | null, onChanged: () => void): void {
  const key = jupyterPath === null ? null : storageKey('theme', jupyterPath);
  const { dataset } = document.documentElement;
  const read = (): void => {
    const kept = key === null ? null : recall(key);
    const isDark = kept === null ? systemDark.matches : kept === 'dark';
    const name = isDark ? 'dark' : 'light';
    if (dataset['theme'] !== name) {
      dataset['theme'] = name;
      onChanged();
    }
  };
  read();
  systemDark.addEventListener('change', read);
  window.addEventListener('pageshow', read); // while it waits in the history, a page hears nothing
  window.addEventListener('storage', event => {
    if (event.key === key) {
      read();
    }
  });
}
