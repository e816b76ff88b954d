/**
 * Brings one of our own pages in a browser tab to life: its plots, its tabs, its menus.
 *
 * The server writes the page's frame; each `article.plot[data-plot]` gets a live plot, the same that
 * JupyterLab's panes have. `body` names the way to the dashboard's root (`data-base`) and whether
 * the page's query is what its only plot is to show (`data-kind="single"`).
 */

import { clusterFor, peersOf, type Peer } from '../dashboards/clusters';
import { BokehLoader } from '../plot/bokeh';
import { LivePlot } from '../plot/live';
import { readLook } from '../plot/look';
import { openSession, type PlotCommand } from '../plot/session';
import { argumentsOf, NO_ARGUMENTS, type ILook, type IOpening } from '../protocol/control';
import type { IDashboard } from '../protocol/dashboard';
import { english, helpNodes } from '../text';
import { openSaved, unpack } from './saved';
import { PageServer } from './server';
import { followTabs } from './tabs';
import { followTheme } from './theme';

const KEYS: Readonly<Record<string, PlotCommand>> = { f: 'fit', l: 'live', ' ': 'freeze' };

/** How often the Jupyter server is asked for a new cluster, once the page's own has ended (ms). */
const ASK_MS = 3000;

const { base = './', kind } = document.body.dataset;
const server = new PageServer(new URL(base, window.location.href));
const loader = new BokehLoader(english);
const given =
  kind === 'single'
    ? argumentsOf(Object.fromEntries(new URLSearchParams(window.location.search)))
    : NO_ARGUMENTS;

/** Of a page that was saved to a file, what it carries. */
const packed = document.getElementById('saved')?.textContent;
const saved = packed ? unpack(packed) : null;

const look = (): ILook =>
  readLook(document.documentElement.style.colorScheme !== 'dark', '', 'viridis');

function livePlot(article: HTMLElement): LivePlot {
  const { plot = '', title = plot, named } = article.dataset;
  const live = new LivePlot({
    plot,
    arguments: given,
    look: look(),
    trans: english,
    open: (_, name, colors, shown, signal) =>
      saved
        ? openSaved(saved, article)
        : openSession(server.plots, loader, english, name, colors, shown, signal)
  });
  const around = {
    plotTitle: title,
    dashboardName: document.querySelector('header .name')?.textContent || 'the dashboard',
    trouble: null
  };
  live.setSurroundings(around, named === undefined ? '' : title, null);
  live.onOpening = openTab;
  live.node.addEventListener('keydown', event => {
    const verb = KEYS[event.key.toLowerCase()];
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const isTaken = (event.target as Element).closest('[data-lm-suppress-shortcuts]') !== null;
    if (verb !== undefined && isPlain && !isTaken) {
      event.preventDefault();
      live.send(verb);
    }
  });
  article.replaceChildren(live.node);
  return live;
}

/** Open what a click in a picture asked for; browsers allow that only soon after the click. */
function openTab({ plot, arguments: shown }: IOpening): void {
  const url = new URL(`plots/${encodeURIComponent(plot)}`, server.base);
  url.search = new URLSearchParams(shown).toString();
  window.open(url.href, '_blank', 'noopener');
}

/** Learn whose the page is, and what is beside it, while its dashboard is there. */
async function ownDashboard(): Promise<(IDashboard & { peers: readonly Peer[] }) | undefined> {
  const all = await server.dashboards().catch(() => []);
  const own = all.find(one => one.id === server.id);
  const origin = { dashboard: server.id, kernel: own?.kernel_id ?? null, notebook: null };
  return own && { ...own, peers: peersOf(origin, own, all) };
}

/** Go on with the next cluster of the same kernel, once the page's own has ended. */
async function follow(): Promise<void> {
  const isEnded = plots.some(
    ({ control, presentation }) => presentation.isGreyed && control?.state !== 'error'
  );
  const { kernel_id: kernel, peers = [] } = (await owned) ?? {};
  const gone = document.querySelector('.gone');
  if (!isEnded || document.hidden || kernel == null) {
    gone?.toggleAttribute('hidden', true);
    return;
  }
  const all = await server.dashboards().catch(() => null);
  const next = all && clusterFor({ dashboard: server.id, kernel, notebook: null, peers }, all);
  if (next && next.id !== server.id && !plots.some(plot => plot.control?.isFrozen)) {
    window.location.replace(server.hrefAt(next.id, new URL(window.location.href)));
  }
  const isOver = all !== null && (next?.state ?? 'stale') === 'stale';
  gone?.toggleAttribute('hidden', !isOver);
}

const plots: LivePlot[] = [];
if (saved === null) {
  followTheme(server.jupyterPath, () => plots.forEach(plot => plot.setLook(look())));
}
document.querySelectorAll<HTMLElement>('[role="tablist"]').forEach(followTabs);
for (const help of document.querySelectorAll<HTMLElement>('[data-help]')) {
  help.replaceChildren(...helpNodes(help.textContent ?? ''));
}
for (const article of document.querySelectorAll<HTMLElement>('article.plot')) {
  plots.push(livePlot(article));
}
plots.forEach(plot => plot.setTarget(server.id || 'here'));
const owned = ownDashboard();
setInterval(() => void follow(), ASK_MS);
