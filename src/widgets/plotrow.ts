/** One plot in the sidebar: a click or Enter opens it, a drag places it, a star keeps it on top. */

import type { Widget } from '@lumino/widgets';

import { PLOT_ITEM_CLASS } from '../tokens';
import type { IPlot } from '../wire';
import { h } from './dom';
import { plotIcon, starIcon } from './icons';
import { watchPress } from './plotdrag';
import type { ISidebarHost } from './sidebarhost';
import type { Tip } from './tip';

const STAR_CLASS = 'jp-DaskDiag-star';

/** Return the row of a plot of a dashboard. */
export function plotRow(dashboard: string, plot: IPlot, host: ISidebarHost, tip: Tip): HTMLElement {
  const row = h('li', {
    class: PLOT_ITEM_CLASS,
    'data-plot': plot.name,
    'data-dashboard': dashboard
  });
  row.append(openButton(dashboard, plot, host, tip), starButton(plot, host));
  showStar(row, plot, host);
  row.addEventListener('pointerenter', () => tip.show(row, plot.description));
  row.addEventListener('pointerleave', () => tip.hide());
  return row;
}

function openButton(dashboard: string, plot: IPlot, host: ISidebarHost, tip: Tip): HTMLElement {
  const icon = h('span', { class: 'jp-DaskDiag-plotIcon', 'aria-hidden': 'true' });
  plotIcon(plot.name).element({ container: icon });
  const button = h(
    'button',
    {
      type: 'button',
      class: 'jp-DaskDiag-plotButton',
      tabindex: '-1',
      'aria-description': plot.description
    },
    icon,
    h('span', { class: 'jp-DaskDiag-plotTitle' }, plot.title)
  );
  let wasDragged = false;
  button.addEventListener('pointerdown', press => {
    wasDragged = false;
    // A touch may as well begin to scroll.
    if (press.button === 0 && press.pointerType !== 'touch') {
      host.preparePlot(dashboard, plot.name);
    }
    const onStart = (): void => {
      wasDragged = true;
      tip.hide();
    };
    const createPane = (): Widget => host.createPane(dashboard, plot.name);
    const onCodeDropped = (cell: string): void => host.onCodeDropped(dashboard, cell);
    const { name, title } = plot;
    watchPress(press, { plot: name, title, createPane, onStart, onCodeDropped });
  });
  button.addEventListener('click', ({ detail }) => {
    // A drag ends in a click or in none; one by the keyboard, of detail 0, is never that click.
    if (!wasDragged || detail === 0) {
      host.openPlot(dashboard, plot.name);
    }
    wasDragged = false;
  });
  button.addEventListener('focus', () => tip.show(button, plot.description));
  button.addEventListener('blur', () => tip.hide());
  return button;
}

/** Bring the star of a row up to whether its plot is a favourite. */
export function showStar(row: HTMLElement, plot: IPlot, host: ISidebarHost): void {
  const star = row.querySelector<HTMLElement>(`.${STAR_CLASS}`);
  const isFavorite = host.favorites.has(plot.name);
  if (star !== null && star.getAttribute('aria-pressed') !== String(isFavorite)) {
    const label = isFavorite
      ? host.trans.__('Remove %1 from favourites', plot.title)
      : host.trans.__('Keep %1 on top', plot.title);
    star.title = label;
    star.setAttribute('aria-label', label);
    star.setAttribute('aria-pressed', String(isFavorite));
  }
}

function starButton(plot: IPlot, host: ISidebarHost): HTMLElement {
  const star = h('button', { type: 'button', class: STAR_CLASS, tabindex: '-1' });
  starIcon.element({ container: star });
  star.addEventListener('click', () => host.favorites.toggle(plot.name));
  return star;
}
