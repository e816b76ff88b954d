/** The page's colours and fonts as a view takes them, read from the CSS variables that Lab's themes have. */

import type { ILook, Palette } from './control';

const LIGHT = { foreground: '#212121', muted: '#616161', grid: '#e0e0e0', background: '#ffffff' };
const DARK = { foreground: '#e0e0e0', muted: '#9e9e9e', grid: '#424242', background: '#111111' };

/** Return the look of the page now, with the palette that the user has chosen. */
export function readLook(isLight: boolean, theme: string, palette: Palette): ILook {
  const probe = document.createElement('span');
  probe.hidden = true;
  document.body.append(probe);
  const computed = (property: string, variable: string): string => {
    probe.style.setProperty(property, `var(${variable})`);
    return getComputedStyle(probe).getPropertyValue(property);
  };
  const plain = isLight ? LIGHT : DARK;
  const background = toHex(computed('color', '--jp-layout-color0'), plain.background);
  const color = (variable: string, otherwise: string): string =>
    toHex(computed('color', variable), background ?? plain.background) ?? otherwise;
  const look: ILook = {
    name: isLight ? 'light' : /high.?contrast/i.test(theme) ? 'high-contrast' : 'dark',
    foreground: color('--jp-ui-font-color1', plain.foreground),
    muted: color('--jp-ui-font-color2', plain.muted),
    grid: color('--jp-border-color2', plain.grid),
    background: background ?? plain.background,
    accent: color('--jp-brand-color1', '#1976d2'),
    font: computed('font-family', '--jp-ui-font-family') || 'system-ui, sans-serif',
    font_size: computed('font-size', '--jp-ui-font-size0') || '11px',
    palette
  };
  probe.remove();
  return look;
}

/** Return `#rrggbb` of a computed colour laid over a background, or null when it is none. */
export function toHex(color: string, background: string): string | null {
  const numbers = /^rgba?\(([^)]*)\)$/
    .exec(color.trim())?.[1]
    ?.split(/[\s,/]+/)
    .map(Number);
  const [red, green, blue, alpha = 1] = numbers ?? [];
  if (red === undefined || green === undefined || blue === undefined || Number.isNaN(red)) {
    return null;
  }
  const below = [1, 3, 5].map(at => parseInt(background.slice(at, at + 2), 16) || 0);
  const mixed = [red, green, blue].map((part, i) => part * alpha + (below[i] ?? 0) * (1 - alpha));
  return `#${mixed.map(part => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}

/** The key of what the browser keeps: servers of one hub share an origin, not their clusters. */
export function storageKey(name: string, baseUrl: string): string {
  return `dask-diag-lab:${name}:${new URL(baseUrl, window.location.href).pathname}`;
}

/** Return what the browser keeps under a key; null for nothing, or where storage is switched off. */
export function recall(key: string): string | null {
  try {
    return window.localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Keep a text in the browser, where it lets us. */
export function remember(key: string, text: string): void {
  try {
    window.localStorage.setItem(key, text);
  } catch (reason) {
    console.warn('dask-diag-lab: this browser keeps nothing.', reason);
  }
}
