/** Follows Lab's theme and the chosen palette: tells pictures when what they look like changes. */

import type { IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';

import { lookOf, type ITheme } from '../model/look';
import { browserStorage } from '../model/storage';
import { NAMESPACE } from '../tokens';
import type { ILook, Palette } from '../wire';

/** The look of the page at the moment; one per page, shared by all pictures. */
export class PageLook implements IDisposable {
  constructor() {
    // Lab writes the theme's name on the body once its style sheet is in, and font sizes on the root.
    const body = { attributeFilter: ['data-jp-theme-name', 'data-jp-theme-light'] };
    this._observer = new MutationObserver(() => this._read());
    this._observer.observe(document.body, body);
    this._observer.observe(document.documentElement, { attributeFilter: ['style'] });
    this._current = readLook(this._palette);
    tellTabs();
  }

  get current(): ILook {
    return this._current;
  }

  get changed(): ISignal<this, ILook> {
    return this._changed;
  }

  /** Draw task prefixes in these colours, at once. */
  setPalette(palette: Palette): void {
    this._palette = palette;
    this._read();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._observer.disconnect();
    Signal.clearData(this);
  }

  private _read(): void {
    tellTabs();
    const look = readLook(this._palette);
    if (JSON.stringify(look) !== JSON.stringify(this._current)) {
      this._current = look;
      this._changed.emit(look);
    }
  }

  private readonly _observer: MutationObserver;
  private readonly _changed = new Signal<this, ILook>(this);
  private _palette: Palette = 'viridis';
  private _current: ILook;
  private _isDisposed = false;
}

/** Where plots in browser tabs read it (`server/static/theme.js`). */
const TABS_KEY = `${NAMESPACE}:theme`;

/** Keep word of the theme, once Lab has one, for plots in browser tabs of the same browser. */
function tellTabs(): void {
  const { jpThemeLight } = document.body.dataset;
  if (jpThemeLight !== undefined) {
    try {
      browserStorage()?.setItem(TABS_KEY, jpThemeLight === 'false' ? 'dark' : 'light');
    } catch (reason) {
      console.warn('dask-diag-lab: browser tabs are not told of the theme.', reason);
    }
  }
}

function readLook(palette: Palette): ILook {
  const probe = document.createElement('span');
  probe.hidden = true;
  document.body.append(probe);
  const computed = (property: 'color' | 'font-family' | 'font-size', variable: string): string => {
    probe.style.setProperty(property, `var(${variable})`);
    return getComputedStyle(probe).getPropertyValue(property);
  };
  const theme: ITheme = {
    isLight: document.body.dataset['jpThemeLight'] !== 'false',
    name: document.body.dataset['jpThemeName'] ?? '',
    color: variable => computed('color', variable),
    font: variable => computed('font-family', variable),
    size: variable => computed('font-size', variable)
  };
  const look = lookOf(theme, palette);
  probe.remove();
  return look;
}
