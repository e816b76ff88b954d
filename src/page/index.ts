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
import { readTheme, storageKey } from '../plot/theme';
import { openSession, SavedSession, type PlotCommand, type PlotSession } from '../plot/session';
import { argumentsOf, NO_ARGUMENTS, type IPlotTheme, type IPlotLink } from '../protocol/control';
import type { IDashboard } from '../protocol/dashboard';
import { english, helpNodes } from '../text';
import { bytesIn } from '../transport/stream';
import { PageServer } from './server';

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

const pageTheme = (): IPlotTheme =>
  readTheme(document.documentElement.style.colorScheme !== 'dark', '', 'viridis');

function livePlot(article: HTMLElement): LivePlot {
  const { plot = '', title = plot, named } = article.dataset;
  const live = new LivePlot({
    plot,
    arguments: given,
    theme: pageTheme(),
    trans: english,
    open: (_, name, colors, shown, signal) =>
      saved
        ? openSaved(saved, article)
        : openSession(server.plots, loader, english, name, colors, shown, signal)
  });
  const context = {
    plotTitle: title,
    dashboardName: document.querySelector('header .name')?.textContent || 'the dashboard',
    blocker: null
  };
  live.setContext(context, named === undefined ? '' : title, null);
  live.onLink = openTab;
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
function openTab({ plot, arguments: shown }: IPlotLink): void {
  const url = new URL(`plots/${encodeURIComponent(plot)}`, server.base);
  url.search = new URLSearchParams(shown).toString();
  window.open(url.href, '_blank', 'noopener');
}

/** Return the dashboard that serves this page, with those beside it; nothing once it is gone. */
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

/** What a saved page carries: BokehJS and its documents; nothing is fetched. */
interface ISaved {
  readonly bokeh: string;
  readonly scripts: readonly string[];
  readonly documents: readonly object[];
}

/** Unpack what the page carries, and run the scripts that draw it. */
async function unpack(text: string): Promise<ISaved> {
  const json = new TextDecoder().decode(await bytesIn(text, true));
  const saved = JSON.parse(json) as ISaved; // written by `server/saved.py`
  for (const script of saved.scripts) {
    document.head.append(Object.assign(document.createElement('script'), { text: script }));
  }
  return saved;
}

/** Open the plot of an article of the page. */
async function openSaved(unpacked: Promise<ISaved>, article: HTMLElement): Promise<PlotSession> {
  const { bokeh, documents } = await unpacked;
  const library = window.Bokeh?.[bokeh];
  const json = documents[Number(article.dataset.document)];
  if (library === undefined || json === undefined) {
    throw new Error('This file is damaged.');
  }
  return new SavedSession(library, json, english);
}

/** Be light or dark as the JupyterLab that relays the page, which keeps it in the browser; else as the system. */
function followTheme({ jupyterPath }: PageServer): void {
  const systemDark = window.matchMedia('(prefers-color-scheme: dark)');
  const read = (): void => {
    const kept = jupyterPath && window.localStorage.getItem(storageKey('theme', jupyterPath));
    const theme = kept ?? (systemDark.matches ? 'dark' : 'light');
    const { style } = document.documentElement;
    if (style.colorScheme !== theme) {
      style.colorScheme = theme;
      plots.forEach(plot => plot.setTheme(pageTheme()));
    }
  };
  read();
  systemDark.addEventListener('change', read);
  window.addEventListener('pageshow', read); // while it waits in the history, a page hears nothing
  window.addEventListener('storage', read);
}

/** Make the tabs of a list choose their panels. */
function followTabs(list: HTMLElement): void {
  const tabs = [...list.querySelectorAll<HTMLElement>('[role="tab"]')];
  const choose = (chosen: HTMLElement): void => {
    for (const tab of tabs) {
      tab.setAttribute('aria-selected', String(tab === chosen));
      const panel = document.getElementById(tab.getAttribute('aria-controls') ?? '');
      panel?.toggleAttribute('hidden', tab !== chosen);
    }
  };
  tabs.forEach(tab => tab.addEventListener('click', () => choose(tab)));
}

const plots: LivePlot[] = [];
if (saved === null) {
  followTheme(server);
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
