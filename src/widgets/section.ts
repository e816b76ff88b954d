/** One dashboard in the sidebar: what it is and how it does, its plots in groups below. */

import { FAVOURITES, grouped, type IPlotGroup } from '../model/catalogue';
import { staleWords } from '../model/closed';
import type { IKnownDashboard } from '../model/dashboards';
import { formatBytes, formatCount } from '../model/format';
import { PLOT_ITEM_CLASS } from '../tokens';
import type { IPlot, ISummary } from '../wire';
import { h, setText } from './dom';
import { caretIcon, moreIcon } from './icons';
import { plotRow, showStar } from './plotrow';
import type { ISidebarHost } from './sidebarhost';
import { showTag } from './tag';
import type { Tip } from './tip';

const NO_TASKS: ISummary['tasks'] = { total: 0, done: 0, erred: 0, processing: 0 };

export class DashboardSection {
  constructor(
    private readonly _host: ISidebarHost,
    private readonly _tip: Tip,
    private readonly _id: string,
    /** The user opens the section, or folds it to its header. */
    onFold: () => void
  ) {
    const { trans } = _host;
    caretIcon.element({ container: this._caret });
    this._fold.append(this._caret, this._dot, this._tag, this._name, this._hits);
    this._fold.addEventListener('click', onFold);
    this._menu.title = trans.__('Actions of this cluster');
    this._menu.setAttribute('aria-label', this._menu.title);
    moreIcon.element({ container: this._menu });
    this._menu.addEventListener('click', () => _host.openMenu(_id, this._menu));
    this._four.textContent = trans.__('Open the usual four');
    this._four.addEventListener('click', () => _host.openLayout(_id));
    this._header.append(h('h3', {}, this._fold), this._menu);
    this._body.append(this._four, this._groups);
    this.node.append(this._header, this._meta, this._progress, this._body);
    this._progress.append(this._done, this._erred);
    this._progress.setAttribute('aria-label', trans.__('Tasks done'));
  }

  readonly node = h('section', { class: 'jp-DaskDiag-dashboard' });

  /**
   * Bring the section up to its dashboard; rows are made anew only when they differ.
   *
   * @param onTop - the plots that are listed as favourites; a star may say otherwise already.
   */
  update(
    dashboard: IKnownDashboard,
    query: string,
    isOpen: boolean,
    onTop: ReadonlySet<string>
  ): void {
    this._showHeader(dashboard);
    this._body.hidden = !isOpen;
    this._fold.setAttribute('aria-expanded', String(isOpen));
    this._query = query;
    const groups = grouped(dashboard.plots, query, plot => onTop.has(plot));
    const signature = JSON.stringify([
      groups,
      query !== '',
      groups.map(group => this._host.groups.isOpen(group.name))
    ]);
    if (signature !== this._signature) {
      this._signature = signature;
      this._groups.replaceChildren(...groups.map(group => this._group(group, query !== '')));
    }
    this._showStars(groups.flatMap(({ plots }) => plots));
    this._showHits(groups, query !== '' && !isOpen);
    this._four.hidden = query !== '' || dashboard.plots.length === 0;
    // A cluster none of whose plots match is out of the way while one searches.
    this.node.hidden = query !== '' && groups.length === 0;
  }

  private _showHeader(dashboard: IKnownDashboard): void {
    const { trans, dashboards } = this._host;
    this.node.dataset['dashboard'] = dashboard.id;
    this.node.dataset['state'] = dashboard.state;
    this.node.setAttribute('aria-label', dashboard.shownName);
    setText(this._name, dashboard.shownName);
    this._fold.title = [dashboard.notebook, dashboard.scheduler.address].filter(Boolean).join('\n');
    const words = {
      live: trans.__('Live'),
      stale: staleWords(dashboard, dashboard.lastLive, trans),
      unreachable: dashboard.reason ?? trans.__('The kernel does not answer.')
    }[dashboard.state];
    this._dot.title = words;
    this._dot.setAttribute('aria-label', words);
    showTag(this._tag, dashboard, dashboards);
    const isLive = dashboard.state === 'live';
    this._showTasks(isLive ? (dashboard.summary?.tasks ?? NO_TASKS) : NO_TASKS);
    if (isLive) {
      this._showSummary(dashboard.summary ?? null);
    } else {
      // In the place of the numbers: what comes and goes moves no row under the pointer.
      setText(this._meta, words);
      this._meta.title = words;
    }
  }

  /** Rows are in the order of their plots. */
  private _showStars(plots: readonly IPlot[]): void {
    const rows = this._groups.querySelectorAll<HTMLElement>(`.${PLOT_ITEM_CLASS}`);
    plots.forEach((plot, i) => rows[i] && showStar(rows[i], plot, this._host));
  }

  /** Say how much a search finds where it is not listed. */
  private _showHits(groups: readonly IPlotGroup[], isTold: boolean): void {
    const count = groups.reduce((sum, { plots }) => sum + plots.length, 0);
    const { trans } = this._host;
    this._hits.hidden = !isTold;
    setText(this._hits, trans.__('%1 found', count)); // short: it is beside a name
  }

  private _showSummary(summary: ISummary | null): void {
    if (summary === null) {
      setText(this._meta, '\u00a0'); // its line stays: the rows below keep their places
      return;
    }
    const { trans } = this._host;
    const { workers, threads, memory_limit, memory } = summary;
    const parts = [
      trans._n('%2 worker', '%2 workers', workers, formatCount(workers)),
      trans._n('%2 thread', '%2 threads', threads, formatCount(threads)),
      memory_limit > 0 ? formatBytes(memory_limit) : ''
    ];
    setText(this._meta, parts.filter(Boolean).join(' · '));
    this._meta.title = trans.__('%1 of memory in use', formatBytes(memory));
  }

  private _showTasks({ total, done, erred, processing }: ISummary['tasks']): void {
    const { trans } = this._host;
    const share = (part: number): string =>
      `${total > 0 ? Math.min(100, Math.round((1000 * part) / total) / 10) : 0}%`;
    this._done.style.width = share(done);
    this._erred.style.width = share(erred);
    const words = [
      trans.__('%1 of %2 tasks done', formatCount(done), formatCount(total)),
      processing > 0 ? trans.__('%1 processing', formatCount(processing)) : '',
      erred > 0 ? trans.__('%1 failed', formatCount(erred)) : ''
    ];
    const text = total > 0 ? words.filter(Boolean).join(' · ') : trans.__('No tasks');
    this._progress.title = text;
    this._progress.setAttribute('aria-valuetext', text);
    this._progress.setAttribute('aria-valuemax', String(Math.max(total, 1)));
    this._progress.setAttribute('aria-valuenow', String(done));
    this._progress.dataset['busy'] = String(processing > 0);
  }

  private _group(group: IPlotGroup, isSearching: boolean): HTMLElement {
    const isOpen = isSearching || this._host.groups.isOpen(group.name);
    const { trans } = this._host;
    const title = group.name === FAVOURITES ? trans.__('Favourites') : group.name;
    const list = h(
      'ul',
      { class: 'jp-DaskDiag-plots', 'aria-label': title },
      ...group.plots.map(plot => plotRow(this._id, plot, this._host, this._tip))
    );
    list.hidden = !isOpen;
    const caret = h('span', { class: 'jp-DaskDiag-caret', 'aria-hidden': 'true' });
    caretIcon.element({ container: caret });
    const toggle = h(
      'button',
      { type: 'button', class: 'jp-DaskDiag-groupToggle', 'aria-expanded': String(isOpen) },
      caret,
      h('span', {}, title),
      h('span', { class: 'jp-DaskDiag-groupCount' }, String(group.plots.length))
    );
    toggle.addEventListener('click', () => this._toggle(group.name));
    return h('div', { class: 'jp-DaskDiag-group', 'data-group': group.name }, toggle, list);
  }

  private _toggle(group: string): void {
    if (this._query !== '') {
      return; // what matches is shown, whatever is collapsed
    }
    this._host.groups.toggle(group); // and the sidebar brings all sections up to it
    const made = [...this._groups.children].find(
      child => child instanceof HTMLElement && child.dataset['group'] === group
    );
    made?.querySelector('button')?.focus();
  }

  private readonly _header = h('div', { class: 'jp-DaskDiag-header' });
  private readonly _dot = h('span', { class: 'jp-DaskDiag-dot', role: 'img' });
  private readonly _tag = h('span', { class: 'jp-DaskDiag-tag' });
  private readonly _caret = h('span', { class: 'jp-DaskDiag-caret', 'aria-hidden': 'true' });
  private readonly _fold = h('button', { type: 'button', class: 'jp-DaskDiag-fold' });
  private readonly _name = h('span', { class: 'jp-DaskDiag-name' });
  private readonly _hits = h('span', { class: 'jp-DaskDiag-hits' });
  private readonly _menu = h('button', {
    type: 'button',
    class: 'jp-DaskDiag-menuButton',
    'aria-haspopup': 'menu'
  });
  private readonly _meta = h('div', { class: 'jp-DaskDiag-meta' });
  private readonly _progress = h('div', {
    class: 'jp-DaskDiag-progress',
    role: 'progressbar',
    'aria-valuemin': '0'
  });
  private readonly _done = h('div', { class: 'jp-DaskDiag-done' });
  private readonly _erred = h('div', { class: 'jp-DaskDiag-erred' });
  private readonly _four = h('button', { type: 'button', class: 'jp-DaskDiag-openLayout' });
  private readonly _body = h('div', {});
  private readonly _groups = h('div', { class: 'jp-DaskDiag-groups' });
  private _signature = '';
  private _query = '';
}
