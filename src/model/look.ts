/** Lab's theme as a view takes it; pure, given a way to resolve the page's colours. */

import type { ILook, Palette } from '../wire';

/** What a page tells about its theme. */
export interface ITheme {
  readonly isLight: boolean;
  readonly name: string;
  /** The colour of a CSS variable as the browser computes it (`rgb(…)` or `rgba(…)`), or ''. */
  color(variable: string): string;
  /** The font family of a CSS variable as the browser computes it, or ''. */
  font(variable: string): string;
  /** The font size of a CSS variable as the browser computes it (`12px`), or ''. */
  size(variable: string): string;
}

const LIGHT = { foreground: '#212121', muted: '#616161', grid: '#e0e0e0', background: '#ffffff' };
const DARK = { foreground: '#e0e0e0', muted: '#9e9e9e', grid: '#424242', background: '#111111' };

/** Return the look of a theme, with the palette that the user has chosen. */
export function lookOf(theme: ITheme, palette: Palette = 'viridis'): ILook {
  const plain = theme.isLight ? LIGHT : DARK;
  const background = toHex(theme.color('--jp-layout-color0'), plain.background) ?? plain.background;
  const over = (variable: string, otherwise: string): string =>
    toHex(theme.color(variable), background) ?? otherwise;
  return {
    name: nameOf(theme),
    foreground: over('--jp-ui-font-color1', plain.foreground),
    muted: over('--jp-ui-font-color2', plain.muted),
    grid: over('--jp-border-color2', plain.grid),
    background,
    accent: over('--jp-brand-color1', '#1976d2'),
    font: theme.font('--jp-ui-font-family') || 'system-ui, sans-serif',
    font_size: theme.size('--jp-ui-font-size0') || '11px',
    palette
  };
}

function nameOf(theme: ITheme): ILook['name'] {
  if (theme.isLight) {
    return 'light';
  }
  return /high.?contrast/i.test(theme.name) ? 'high-contrast' : 'dark';
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
