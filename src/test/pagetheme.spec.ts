/** The theme of browser tabs: that of JupyterLab where it left word, else the system's. */

import { PageLook } from '../widgets/theme';
import { served } from './served';

interface ITheme extends EventTarget {
  readonly name: string;
}

describe('the theme of a plot in a browser tab', () => {
  let looks: PageLook[];
  let isSystemDark: boolean;

  /** Lab with this theme, as it marks its page. */
  const lab = (isLight: boolean | null): void => {
    if (isLight !== null) {
      document.body.dataset['jpThemeLight'] = String(isLight);
    }
    looks.push(new PageLook());
  };
  const tab = (): ITheme => {
    let theme: ITheme | undefined;
    jest.isolateModules(() => ({ theme } = served<{ theme: ITheme }>('theme.js')));
    return theme!;
  };

  beforeEach(() => {
    looks = [];
    isSystemDark = false;
    window.localStorage.clear();
    const query = new EventTarget();
    Object.defineProperty(query, 'matches', { get: () => isSystemDark });
    Object.assign(window, { matchMedia: () => query });
  });

  afterEach(() => {
    looks.forEach(look => look.dispose());
    delete document.body.dataset['jpThemeLight'];
  });

  it('is Lab’s, whatever the system’s is', () => {
    isSystemDark = true;
    lab(true);
    expect(tab().name).toBe('light');
    lab(false);
    expect(tab().name).toBe('dark');
    expect(document.documentElement.dataset['theme']).toBe('dark');
  });

  it('is the system’s where Lab has said nothing', () => {
    lab(null); // its theme is not loaded yet
    expect(tab().name).toBe('light');
    isSystemDark = true;
    expect(tab().name).toBe('dark');
  });

  it('changes with Lab’s', () => {
    lab(true);
    const theme = tab();
    const told: string[] = [];
    theme.addEventListener('change', () => told.push(theme.name));
    lab(false);
    // What the browser tells its other pages.
    window.dispatchEvent(new StorageEvent('storage', { key: 'dask-diag-lab:theme' }));
    window.dispatchEvent(new StorageEvent('storage', { key: 'something else' }));
    expect(told).toEqual(['dark']);
  });

  it('is Lab’s also for a page that comes back by the way back in history', () => {
    lab(true);
    const theme = tab();
    window.localStorage.setItem('dask-diag-lab:theme', 'dark'); // it was told nothing
    window.dispatchEvent(new Event('pageshow'));
    expect(theme.name).toBe('dark');
  });
});
