/**
 * Brings one of our own pages in a browser tab to life: its plots, its tabs, its menus.
 *
 * The server writes the page's frame; each `article.plot[data-plot]` gets a live plot, the same that
 * JupyterLab's panes have. `body` names the way to the dashboard's root (`data-base`) and whether
 * the page's query is what its only plot is to show (`data-kind="single"`).
 */

import { BokehLoader } from '../plot/bokeh';
import { showTag } from '../plot/caption';
import { clusterFor, tagOf } from '../plot/clusters';
import { argumentsOf, headingOf, NO_ARGUMENTS, type IOpening } from '../plot/control';
import { innermost } from '../plot/dom';
import { LivePlot } from '../plot/live';
import { readLook } from '../plot/look';
import { openSession, type Verb } from '../plot/session';
import { english } from '../plot/text';
import { followMenus, followTabs } from './bar';
import { PageServer, type IListed } from './server';
import { followTheme } from './theme';

const KEYS: Readonly<Record<string, Verb>> = { f: 'fit', l: 'live', ' ': 'freeze' };

/** How often the Jupyter server is asked for a new cluster, once the page's own has ended (ms). */
const FIRST_ASK_MS = 1000;
const LONGEST_ASK_MS = 15_000;

const { base = './', kind } = document.body.dataset;
const server = new PageServer(new URL(base, window.location.href));
const loader = new BokehLoader(english);
const given =
  kind === 'single'
    ? argumentsOf(Object.fromEntries(new URLSearchParams(window.location.search)))
    : NO_ARGUMENTS;

const look = (): ReturnType<typeof readLook> =>
  readLook(document.documentElement.dataset['theme'] !== 'dark', '', 'viridis');

function livePlot(article: HTMLElement): LivePlot {
  const { plot = '', title = plot, named } = article.dataset;
  const live = new LivePlot({
    plot,
    arguments: given,
    look: look(),
    trans: english,
    open: (_, name, colors, shown) => openSession(server, loader, english, name, colors, shown)
  });
  const name = document.querySelector('header .name')?.textContent || 'the dashboard';
  live.setTitles(headingOf(title, given), name, null, named === undefined ? '' : title);
  live.onOpening = opening => openTab(article, opening);
  live.onPresented = () => follower.check();
  live.node.addEventListener('keydown', event => {
    const verb = KEYS[event.key.toLowerCase()];
    const isTaken = innermost(event)?.closest('input, select, textarea, button') != null;
    if (verb !== undefined && !isTaken && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      live.send(verb);
    }
  });
  article.replaceChildren(live.node);
  return live;
}

/** Open what a click in a picture asked for; browsers allow that only soon after the click. */
function openTab(article: HTMLElement, { plot, arguments: shown }: IOpening): void {
  const url = new URL(`plots/${encodeURIComponent(plot)}`, server.base);
  url.search = new URLSearchParams(shown).toString();
  if (navigator.userActivation?.isActive ?? true) {
    window.open(url.href, '_blank', 'noopener');
    return;
  }
  const link = document.createElement('a');
  Object.assign(link, { href: url.href, target: '_blank', rel: 'noopener', className: 'opening' });
  link.textContent = `Open ${[plot, ...Object.values(shown)].join(' · ').slice(0, 80)}`;
  link.addEventListener('click', () => link.remove());
  article.querySelector('a.opening')?.remove();
  article.append(link);
}

/** Goes on with the next cluster of the same kernel, once the page's own has ended. */
class Follower {
  /** Learn whose the page is while its dashboard is there. */
  async start(): Promise<void> {
    const all = await server.dashboards().catch(() => []);
    this._own = all.find(one => one.id === server.id);
    const tagged = document.querySelector<HTMLElement>('header .tag');
    if (tagged !== null && this._own !== undefined) {
      showTag(tagged, all.length > 1 ? { ...tagOf(server.id), title: this._own.name } : null);
    }
  }

  /** A plot's state may have changed. */
  check(): void {
    const isEnded = plots.some(({ control, presentation: { state, isGreyed } }) =>
      control === null ? isGreyed : state === 'stale' && control.state !== 'error'
    );
    if (isEnded && this._own?.kernel_id != null && this._timer === undefined) {
      this._wait = FIRST_ASK_MS;
      this._timer = setTimeout(() => void this._ask(), this._wait);
    } else if (!isEnded) {
      clearTimeout(this._timer);
      this._timer = undefined;
      gone?.toggleAttribute('hidden', true);
    }
  }

  private async _ask(): Promise<void> {
    if (!document.hidden && this._own !== undefined) {
      const { kernel_id: kernel } = this._own;
      const all = await server.dashboards().catch(() => null);
      const next = all && clusterFor({ dashboard: server.id, kernel, notebook: null }, all);
      if (next && next.id !== server.id && !plots.some(plot => plot.isFrozen)) {
        window.location.replace(server.hrefAt(next.id, new URL(window.location.href)));
        return;
      }
      const isOver = all !== null && (next?.state ?? 'stale') === 'stale';
      gone?.toggleAttribute('hidden', !isOver);
    }
    if (this._timer !== undefined) {
      this._wait = Math.min(2 * this._wait, LONGEST_ASK_MS);
      this._timer = setTimeout(() => void this._ask(), this._wait);
    }
  }

  private _own: IListed | undefined;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _wait = FIRST_ASK_MS;
}

const gone = document.querySelector('.gone');
const follower = new Follower();
const plots: LivePlot[] = [];
followTheme(server.jupyterPath, () => plots.forEach(plot => plot.setLook(look())));
document
  .querySelectorAll<HTMLElement>('[role="tablist"]')
  .forEach(list => followTabs(list, server.base.href));
for (const article of document.querySelectorAll<HTMLElement>('article.plot')) {
  plots.push(livePlot(article));
}
plots.forEach(plot => plot.setTarget(server.id || 'here'));
followMenus();
void follower.start();
