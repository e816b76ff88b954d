/** Follows Lab's theme: reads its CSS variables and tells pictures when they change. */

import type { IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';

import { lookOf, type ITheme } from '../model/look';
import type { ILook } from '../wire';

/** The look of the page at the moment; one per page, shared by all pictures. */
export class PageLook implements IDisposable {
  constructor() {
    // Lab writes the theme's name on the body once its style sheet is in, and font sizes on the root.
    const body = { attributeFilter: ['data-jp-theme-name', 'data-jp-theme-light'] };
    this._observer = new MutationObserver(() => this._read());
    this._observer.observe(document.body, body);
    this._observer.observe(document.documentElement, { attributeFilter: ['style'] });
    this._current = readLook();
  }

  get current(): ILook {
    return this._current;
  }

  get changed(): ISignal<this, ILook> {
    return this._changed;
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
    const look = readLook();
    if (JSON.stringify(look) !== JSON.stringify(this._current)) {
      this._current = look;
      this._changed.emit(look);
    }
  }

  private readonly _observer: MutationObserver;
  private readonly _changed = new Signal<this, ILook>(this);
  private _current: ILook;
  private _isDisposed = false;
}

function readLook(): ILook {
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
  const look = lookOf(theme);
  probe.remove();
  return look;
}
