/** The page's colours and fonts as a view takes them, read from the CSS variables that Lab's themes have. */

import type { IPlotTheme, Palette } from '../protocol/control';

/** Return the theme of the page now, with the palette that the user has chosen. */
export function readTheme(isLight: boolean, name: string, palette: Palette): IPlotTheme {
  const probe = document.createElement('span');
  document.body.append(probe);
  const computed = (property: string, variable: string): string => {
    probe.style.setProperty(property, `var(${variable})`);
    return getComputedStyle(probe).getPropertyValue(property);
  };
  const ground = channels(computed('color', '--jp-layout-color0'));
  /** Return a colour, laid over the ground where one sees through it, as `#rrggbb`. */
  const color = (variable: string): string => {
    const [red = 0, green = 0, blue = 0, alpha = 1] = channels(computed('color', variable));
    const mixed = [red, green, blue].map((one, i) => one * alpha + (ground[i] ?? 0) * (1 - alpha));
    return `#${mixed.map(one => Math.round(one).toString(16).padStart(2, '0')).join('')}`;
  };
  const theme: IPlotTheme = {
    name: isLight ? 'light' : /high.?contrast/i.test(name) ? 'high-contrast' : 'dark',
    foreground: color('--jp-ui-font-color1'),
    muted: color('--jp-ui-font-color2'),
    grid: color('--jp-border-color2'),
    background: color('--jp-layout-color0'),
    accent: color('--jp-brand-color1'),
    font: computed('font-family', '--jp-ui-font-family'),
    font_size: computed('font-size', '--jp-ui-font-size0'),
    palette,
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone
  };
  probe.remove();
  return theme;
}

/** The numbers in a computed colour, which is `rgb(…)` or `rgba(…)`. */
function channels(color: string): readonly number[] {
  return (color.match(/[\d.]+/g) ?? []).map(Number);
}

/** The key of what the browser keeps: servers of one hub share an origin, not their clusters. */
export function storageKey(name: string, baseUrl: string): string {
  return `dask-diag-lab:${name}:${new URL(baseUrl, window.location.href).pathname}`;
}
