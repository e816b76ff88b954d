/** The list of clusters and their plots in Lab's left area; fills and empties by itself. */

import type { Message } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { Arrangement } from '../model/arrangement';
import { SearchFolds } from '../model/searchfolds';
import { whyUnlisted } from '../model/unlisted';
import { PLOT_ITEM_CLASS, SIDEBAR_ID } from '../tokens';
import { h, setChildren, setText } from './dom';
import { Hand } from './hand';
import { diagIcon } from './icons';
import { openMenuByKey } from './menukey';
import { DashboardSection } from './section';
import type { ISidebarHost } from './sidebarhost';
import { Tip } from './tip';

const ROW_BUTTON = '.jp-DaskDiag-plotButton';
const STAR = '.jp-DaskDiag-star';

/** What has the focus inside the list. */
interface IFocus {
  readonly row: string;
  readonly isStar: boolean;
}

export class Sidebar extends Widget {
  constructor(private readonly _host: ISidebarHost) {
    super();
    const { trans, dashboards, favorites, groups, front } = _host;
    this.id = SIDEBAR_ID;
    this.addClass('jp-DaskDiag-sidebar');
    this.title.icon = diagIcon;
    this.title.caption = trans.__('Dask diagnostics');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Dask diagnostics'));
    this._search.placeholder = trans.__('Search plots');
    this._search.setAttribute('aria-label', trans.__('Search plots'));
    this._search.addEventListener('input', () => this._update());
    this._insert.textContent = trans.__('Insert code for a local cluster');
    this._insert.addEventListener('click', () => _host.insertClient());
    this._empty.append(this._emptyWords, this._insert);
    this._clear.textContent = trans.__('Clear the search');
    this._clear.addEventListener('click', () => this._clearSearch());
    this._noMatch.append(this._noMatchWords, this._clear);
    this.node.append(this._search, this._problem, this._empty, this._noMatch, this._list);
    this.node.addEventListener('keydown', event => this._onKey(event));
    this._list.addEventListener('scroll', () => this._tip.hide(), { passive: true });
    const isHolding = (focused: Element | null): boolean =>
      this._list.contains(focused) || (focused === this._search && this._query !== '');
    this._hand = new Hand(this.node, isHolding, () => this._update());
    dashboards.changed.connect(this._update, this);
    favorites.changed.connect(this._update, this);
    groups.changed.connect(this._update, this);
    front.changed.connect(this._update, this);
    this._update();
  }

  /** Put the cursor into the search field. */
  focusSearch(): void {
    this._search.focus();
    this._search.select();
  }

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    Signal.disconnectReceiver(this);
    this._hand.dispose();
    this._tip.dispose();
    super.dispose();
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    this.focusSearch();
  }

  protected override onAfterHide(msg: Message): void {
    super.onAfterHide(msg);
    this._tip.hide();
  }

  private get _query(): string {
    return this._search.value.trim();
  }

  private _update(): void {
    const { dashboards, favorites } = this._host;
    const query = this._query;
    const focused = this._focus();
    const isHeld = this._hand.isHere; // nothing moves under somebody's hand
    this._onTop = isHeld ? this._onTop : favorites.all;
    this._arrangement.update(dashboards.all, this._host.front, isHeld);
    for (const id of [...this._sections.keys()]) {
      if (dashboards.get(id) === undefined) {
        this._sections.delete(id);
      }
    }
    const nodes = this._updateSections(query);
    const isOtherFirst = nodes[0] !== this._list.children[0];
    setChildren(this._list, nodes);
    if (isOtherFirst && !isHeld) {
      this._list.scrollTop = 0;
    }
    this._sayWhatIsMissing(query, nodes);
    this._keepOneTabStop(focused);
    this._tip.check();
    this._showDot();
  }

  /** Return the sections of all dashboards, up to date and in order. */
  private _updateSections(query: string): readonly HTMLElement[] {
    const { dashboards } = this._host;
    const { order } = this._arrangement;
    const all = order.flatMap(id => dashboards.get(id) ?? []);
    this._searchFolds.update(all, query, id => this._arrangement.isOpen(id));
    const folds = query === '' ? this._arrangement : this._searchFolds;
    return all.map(dashboard => {
      const { id } = dashboard;
      const section = this._sections.get(id) ?? this._newSection(id);
      section.update(dashboard, query, folds.isOpen(id), this._onTop);
      return section.node;
    });
  }

  private _newSection(id: string): DashboardSection {
    const section = new DashboardSection(this._host, this._tip, id, () => {
      (this._query === '' ? this._arrangement : this._searchFolds).toggle(id);
      this._update();
    });
    this._sections.set(id, section);
    return section;
  }

  private _clearSearch(): void {
    this._search.value = '';
    this._update();
    this._search.focus();
  }

  private _sayWhatIsMissing(query: string, nodes: readonly HTMLElement[]): void {
    const { dashboards, trans } = this._host;
    const isEmpty = dashboards.all.length === 0;
    this._search.hidden = isEmpty;
    this._empty.hidden = !isEmpty;
    setText(
      this._emptyWords,
      dashboards.isKnown || dashboards.problem !== ''
        ? trans.__(
            'No Dask cluster is running here. Make a client in a notebook and its plots appear by themselves.'
          )
        : trans.__('Looking for Dask clusters…')
    );
    setText(this._problem, this._problemWords());
    this._problem.hidden = this._problem.textContent === '';
    this._noMatch.hidden = isEmpty || nodes.some(node => !node.hidden);
    const listed = dashboards.all.flatMap(one => one.plots);
    const why = whyUnlisted(query, listed, trans);
    setText(this._noMatchWords, `${trans.__('No plot matches “%1”.', query)} ${why}`.trim());
  }

  private _problemWords(): string {
    const { dashboards, trans } = this._host;
    switch (dashboards.feedState) {
      case 'missing':
        return trans.__(
          'The server part of dask_diag_lab does not answer. Install it in the environment that runs Jupyter and restart the server.'
        );
      case 'lost':
        return trans.__('The list of clusters does not arrive: %1', dashboards.problem);
      case 'connecting':
      case 'live':
      case 'polled':
      case 'standby':
        return '';
    }
  }

  /** The icon in Lab's bar has a dot while there is a cluster. */
  private _showDot(): void {
    const hasLive = this._host.dashboards.all.some(one => one.state !== 'stale');
    const className = hasLive ? 'jp-DaskDiag-hasDashboards' : '';
    if (this.title.className !== className) {
      this.title.className = className;
    }
  }

  private _rows(): HTMLElement[] {
    const shown = `section:not([hidden]) > :not([hidden]) ul:not([hidden]) > .${PLOT_ITEM_CLASS} > ${ROW_BUTTON}`;
    return [...this._list.querySelectorAll<HTMLElement>(shown)];
  }

  private _focus(): IFocus | null {
    const active = document.activeElement;
    const row = active?.closest<HTMLElement>(`.${PLOT_ITEM_CLASS}`) ?? null;
    return row !== null && this._list.contains(row)
      ? { row: keyOf(row), isStar: active?.matches(STAR) === true }
      : null;
  }

  /** Of all rows one is a tab stop; rows that were made anew give the focus back. */
  private _keepOneTabStop(focused: IFocus | null): void {
    const rows = this._rows();
    const back = this._focus() === null ? this._refocus(focused) : rowOf(rows, focused);
    const stop = back ?? rows.find(row => row.tabIndex === 0) ?? rows[0];
    rows.forEach(row => (row.tabIndex = row === stop ? 0 : -1));
  }

  /** Give the focus back to a row, or its star; return the row, where it is still there. */
  private _refocus(focused: IFocus | null): HTMLElement | undefined {
    const back = rowOf(this._rows(), focused);
    const star = focused?.isStar ? back?.parentElement?.querySelector<HTMLElement>(STAR) : null;
    (star ?? back)?.focus();
    return back;
  }

  private _onKey(event: KeyboardEvent): void {
    const rows = this._rows();
    const focused = this._focus();
    const item = document.activeElement?.closest(`.${PLOT_ITEM_CLASS}`);
    const at = rows.findIndex(row => row.parentElement === item);
    const isSearching = document.activeElement === this._search;
    if (isSearching && event.key === 'Enter') {
      rows[0]?.click();
    } else if (isSearching && event.key === 'Escape' && this._search.value !== '') {
      this._clearSearch();
    } else if (item && openMenuByKey(event, item, () => this._refocus(focused))) {
      return;
    } else if (at >= 0 || (isSearching && event.key === 'ArrowDown')) {
      this._moveTo(event, rows, at);
      return;
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** Up and down go through the rows, right and left between a row and its star. */
  private _moveTo(event: KeyboardEvent, rows: readonly HTMLElement[], at: number): void {
    const beside = { ArrowRight: STAR, ArrowLeft: ROW_BUTTON }[event.key];
    if (beside !== undefined) {
      rows[at]?.parentElement?.querySelector<HTMLElement>(beside)?.focus();
      return;
    }
    const targets: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: rows.length - 1
    };
    const target = targets[event.key];
    if (target === undefined) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const next = rows[target];
    if (next === undefined) {
      if (target < 0) {
        this._search.focus();
      }
      return;
    }
    rows.forEach(row => (row.tabIndex = row === next ? 0 : -1));
    next.focus();
  }

  private readonly _search = h('input', {
    type: 'search',
    class: 'jp-DaskDiag-search',
    spellcheck: 'false'
  });
  private readonly _problem = h('p', { class: 'jp-DaskDiag-problem', role: 'status' });
  private readonly _empty = h('div', { class: 'jp-DaskDiag-empty' });
  private readonly _emptyWords = h('p', {});
  private readonly _insert = h('button', { type: 'button', class: 'jp-DaskDiag-insert' });
  private readonly _list = h('div', { class: 'jp-DaskDiag-list' });
  private readonly _noMatch = h('div', { class: 'jp-DaskDiag-noMatch' });
  private readonly _noMatchWords = h('p', { role: 'status' });
  private readonly _clear = h('button', { type: 'button', class: 'jp-DaskDiag-insert' });
  private readonly _arrangement = new Arrangement();
  private readonly _searchFolds = new SearchFolds();
  private readonly _sections = new Map<string, DashboardSection>();
  private readonly _tip = new Tip();
  private _onTop: ReadonlySet<string> = new Set();
  private readonly _hand: Hand;
}

function rowOf(rows: readonly HTMLElement[], focused: IFocus | null): HTMLElement | undefined {
  return rows.find(row => keyOf(row.parentElement) === focused?.row);
}

function keyOf(row: HTMLElement | null): string {
  const { dashboard, plot } = row?.dataset ?? {};
  return `${dashboard ?? ''}/${plot ?? ''}`;
}
