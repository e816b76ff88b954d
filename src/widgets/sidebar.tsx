/** The list of clusters and their plots in Lab's left area; fills and empties by itself. */

import type { TranslationBundle } from '@jupyterlab/translation';
import {
  addIcon,
  caretDownIcon,
  caretRightIcon,
  ellipsesIcon,
  FilterBox,
  ReactWidget,
  SidePanel,
  ToolbarButton,
  UseSignal
} from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import { Panel, type Widget } from '@lumino/widgets';
import React from 'react';

import { clustersOf } from '../dashboards/clusters';
import type { IKnownDashboard } from '../dashboards/dashboards';
import { count, size } from '../models/units';
import type { IPlot, IRun, ISummary } from '../protocol/dashboard';
import { CommandIDs, PLOT_ITEM_CLASS, SIDEBAR_ID } from '../tokens';
import { missingServer, staleMessage, warningOf } from './binding';
import { grouped, groupTitle, OPEN_AT_FIRST, STOCK, type IPlotGroup } from './catalogue';
import { startDrag } from './drag';
import { diagIcon, plotIcon } from './icons';
import { runList } from './runs';
import { runCommand, type IPlotServices } from './services';

/** What the arrow keys lead to: runs and plots. */
const ROWS = '.jp-DaskDiag-runButton, .jp-DaskDiag-plotButton';

/** A pointer that has not moved for so long is about to click nothing (ms). */
const STILL_MS = 1500;

/** What the sidebar needs of the application around it. */
export interface ISidebarHost {
  readonly services: IPlotServices;
  readonly favorites: ReadonlySet<string>;
  /** The kernel of the notebook in front, if any. */
  frontKernel(): string | undefined;
  createPane(dashboard: string, plot: string): Widget | null;
  /** Make a plot a cell if it was dropped here in a notebook; returns whether it was. */
  insertCell(dashboard: string, plot: string, clientX: number, clientY: number): boolean;
  /** The user opened or closed a group. */
  onGroups(groups: Readonly<Record<string, boolean>>): void;
}

export class Sidebar extends SidePanel {
  constructor(readonly host: ISidebarHost) {
    super({ content: new Panel() }); // one list, not an accordion
    const { commands, dashboards, trans } = host.services;
    this.id = SIDEBAR_ID;
    this.addClass('jp-DaskDiag-sidebar');
    this.title.icon = diagIcon;
    this.title.caption = trans.__('Dask diagnostics');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Dask diagnostics'));
    this.header.addWidget(
      ReactWidget.create(
        <FilterBox
          inputRef={this._input}
          placeholder={trans.__('Search plots')}
          useFuzzyFilter={false}
          updateFilter={(_, query = '') => this.search(query)}
        />
      )
    );
    this.header.addWidget(
      new ToolbarButton({
        icon: addIcon,
        tooltip: trans.__('Add a dashboard by its address…'),
        onClick: () => runCommand(commands, CommandIDs.addDashboard)
      })
    );
    const list = ReactWidget.create(
      <UseSignal signal={this._changed}>{() => plotList(this)}</UseSignal>
    );
    list.addClass('jp-DaskDiag-list');
    this.addWidget(list);
    this.node.addEventListener('keydown', event => this._onKey(event));
    this.node.addEventListener('focusin', ({ target }) => this._stopAt(target as Element)); // as in the DOM
    this.node.addEventListener('pointerleave', () => this.update());
    this.node.addEventListener('pointermove', () => {
      clearTimeout(this._moving);
      this._moving = window.setTimeout(() => {
        this._moving = 0;
        this.update();
      }, STILL_MS);
    });
    dashboards.changed.connect(this.update, this);
    host.services.runs.changed.connect(this.update, this);
    this.update();
  }

  /** What is searched for; '' lists everything. */
  query = '';

  /** List only the plots that match. */
  search(query: string): void {
    this.query = query.trim();
    this.update();
  }

  /**
   * The dashboards as they are listed: those of the notebook in front first, of each the newest
   * first, closed ones last. Under the pointer nothing moves: a click would open the plot of
   * another cluster.
   */
  dashboards: readonly IKnownDashboard[] = [];

  /**
   * True where a dashboard's plots are listed: as the user left it, else of the notebook in front,
   * or of the only cluster; the first, where no notebook is open.
   */
  isOpen({ id, kernel_id: own }: IKnownDashboard): boolean {
    const kernel = this.host.frontKernel();
    const isMeant = kernel === undefined || this.dashboards.length === 1;
    const isInFront = isMeant ? this.dashboards[0]?.id === id : own === kernel;
    return this.query !== '' || (this._open.get(id) ?? isInFront);
  }

  toggle(dashboard: IKnownDashboard): void {
    this._open.set(dashboard.id, !this.isOpen(dashboard));
    this.update();
  }

  isGroupOpen(group: string): boolean {
    return this.query !== '' || (this._groups[group] ?? OPEN_AT_FIRST.includes(group));
  }

  toggleGroup(group: string): void {
    this._groups = { ...this._groups, [group]: !this.isGroupOpen(group) };
    this.host.onGroups(this._groups);
    this.update();
  }

  /** Take the choices of groups that were stored. */
  restoreGroups(stored: object): void {
    this._groups = { ...stored };
    this.update();
  }

  /** The last runs of a dashboard; while the pointer moves no new ones, which move the rows. */
  runsOf(id: string): readonly IRun[] {
    const all = this.host.services.runs.of(id);
    const newest = all[0]?.number ?? 0;
    const shown = this._newestRuns.get(id) ?? newest;
    const kept = this._moving === 0 ? newest : shown;
    this._newestRuns.set(id, kept);
    return all.filter(one => one.number <= kept);
  }

  private _sorted(): readonly IKnownDashboard[] {
    const kernel = this.host.frontKernel();
    const rank = ({ state, kernel_id: own }: IKnownDashboard): number =>
      Number(state === 'stale') + Number(kernel === undefined || own !== kernel) * 2;
    const clusters = clustersOf(this.host.services.dashboards.all);
    const sorted = [...clusters].reverse().sort((a, b) => rank(a) - rank(b));
    if (this.node.matches(':hover')) {
      const place = ({ id }: IKnownDashboard): number =>
        (this.dashboards.findIndex(one => one.id === id) + 1 || 99) - 1;
      sorted.sort((a, b) => place(a) - place(b));
    }
    return sorted;
  }

  protected override onUpdateRequest(): void {
    this.dashboards = this._sorted();
    // The icon in Lab's bar has a dot while there is a cluster.
    const hasLive = this.host.services.dashboards.all.some(one => one.state !== 'stale');
    this.title.className = hasLive ? 'jp-DaskDiag-hasDashboards' : '';
    this._watchRuns();
    this._changed.emit();
  }

  protected override onAfterShow(): void {
    this._watchRuns();
  }

  protected override onAfterHide(): void {
    this._watchRuns();
  }

  /** Follow the runs of what is listed, while that is seen. */
  private _watchRuns(): void {
    const open = this.isVisible ? this.dashboards.filter(one => this.isOpen(one)) : [];
    const ids = open.map(({ id }) => id);
    this.host.services.runs.watch('sidebar', ids, 'closely');
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    this._input.current?.focus();
  }

  /**
   * Up and down go through the search field and the rows, runs and plots, right and left between a
   * row and its star.
   */
  private _onKey(event: KeyboardEvent): void {
    const input = this._input.current;
    const all = this.node.querySelectorAll<HTMLElement>(ROWS);
    const rows = [...all].filter(row => row.closest('[hidden]') === null);
    const item = document.activeElement?.closest('li');
    const at = rows.findIndex(row => row.parentElement === item);
    const targets: Record<string, Element | null | undefined> = {};
    if (item) {
      targets['ArrowUp'] = at > 0 ? rows[at - 1] : input;
      targets['ArrowRight'] = item.querySelector('.jp-DaskDiag-star');
      targets['ArrowLeft'] = rows[at];
      targets['Home'] = rows[0];
      targets['End'] = rows[rows.length - 1];
    } else if (document.activeElement !== input) {
      return;
    } else if (event.key === 'Enter' && this.query !== '') {
      rows[0]?.click(); // the first plot that was found
    }
    targets['ArrowDown'] = rows[at + 1];
    const target = targets[event.key];
    if (target instanceof HTMLElement) {
      event.preventDefault();
      event.stopPropagation();
      target.focus();
    }
  }

  /** Have Tab lead to the row of a list that had the focus last, and past all others. */
  private _stopAt(row: Element): void {
    const list = row.matches(ROWS) ? row.closest('ul') : null;
    if (list !== null) {
      this._stops.set(list, row);
      this.keepStops();
    }
  }

  /** Give each list, whose rows come and go, one stop of Tab. */
  keepStops(): void {
    for (const list of this.node.querySelectorAll('ul')) {
      const rows = [...list.querySelectorAll<HTMLElement>(ROWS)];
      const stop = rows.find(row => row === this._stops.get(list)) ?? rows[0];
      rows.forEach(row => (row.tabIndex = row === stop ? 0 : -1));
    }
  }

  private readonly _stops = new WeakMap<Element, Element>();
  private readonly _input = React.createRef<HTMLInputElement>();
  private readonly _changed = new Signal<this, void>(this);
  private readonly _open = new Map<string, boolean>();
  private _moving = 0;
  private readonly _newestRuns = new Map<string, number>();
  private _groups: Readonly<Record<string, boolean>> = {};
}

/** Calls after each time that it is drawn. */
function Drawn({ then }: { readonly then: () => void }): null {
  React.useLayoutEffect(then);
  return null;
}

/** Plots of one dashboard. */
interface IListedGroup extends IPlotGroup {
  readonly owner: string;
}

function plotList(sidebar: Sidebar): JSX.Element {
  const { host, query } = sidebar;
  const { commands, dashboards, trans } = host.services;
  const sections = sidebar.dashboards.map(dashboard => {
    const { id: owner, plots } = dashboard;
    const own = grouped(plots, query, host.favorites, trans).map(one => ({ ...one, owner }));
    // Dask's own plots of a cluster that has ours, in one group.
    const stock = dashboards.all
      .filter(one => one.shown_with === owner)
      .map(({ id, plots }) => {
        const found = grouped(plots, query, new Set(), trans).flatMap(one => one.plots);
        return { name: STOCK, plots: found, owner: id };
      });
    return { dashboard, groups: [...own, ...stock].filter(one => one.plots.length > 0) };
  });
  // A cluster none of whose plots match is out of the way while one searches.
  const shown = sections.filter(({ groups }) => query === '' || groups.length > 0);
  const lost = trans.__('The list of clusters does not arrive: %1', dashboards.problem);
  const problems: Readonly<Record<string, string>> = { missing: missingServer(trans), lost };
  const problem = problems[dashboards.feedState];
  const none = dashboards.isKnown
    ? trans.__(
        'No Dask cluster is running here. Make a client in a notebook and its plots appear by themselves.'
      )
    : trans.__('Looking for Dask clusters…');
  const asked = trans.__(
    'This list is asked for every few seconds, because its websocket does not open. A proxy between this browser and Jupyter may not let it through.'
  );
  const unfound = trans.__('No plot matches “%1”.', query);
  const execute = (command: string) => (): void => runCommand(commands, command);
  const actions = [
    [trans.__('Insert code for a local cluster'), execute(CommandIDs.insertClient)],
    [trans.__('Add a dashboard by its address…'), execute(CommandIDs.addDashboard)]
  ] as const;
  return (
    <>
      <Drawn then={() => sidebar.keepStops()} />
      {problem !== undefined && hint(problem)}
      {dashboards.isAsking && hint(asked)}
      {sections.length === 0 && problem === undefined && hint(none, actions)}
      {sections.length > 0 && shown.length === 0 && hint(unfound)}
      {shown.map(({ dashboard, groups }) => section(sidebar, dashboard, groups))}
    </>
  );
}

/** What is wrong with the list, or why it is empty, and what to do. */
function hint(
  text: string,
  actions: readonly (readonly [label: string, onClick: () => void])[] = []
): JSX.Element {
  return (
    <div className="jp-DaskDiag-hint">
      <p role="status">{text}</p>
      {actions.map(([label, onClick]) => (
        <button key={label} className="jp-mod-styled" onClick={onClick}>
          {label}
        </button>
      ))}
    </div>
  );
}

/** Not by colour alone: a ring when it does not answer, a bar when it has ended. */
const STATE_MARKS = {
  live: ['●', 'var(--jp-success-color1)'],
  unreachable: ['○', 'var(--jp-warn-color1)'],
  stale: ['▬', 'var(--jp-ui-font-color2)']
} as const;

/** One cluster: what it is and how it does, its plots in groups below, Dask's own after them. */
function section(
  sidebar: Sidebar,
  dashboard: IKnownDashboard,
  groups: readonly IListedGroup[]
): JSX.Element {
  const { commands, dashboards, trans } = sidebar.host.services;
  const { id, kind, shownName, state, notebook, scheduler, reason } = dashboard;
  const isOpen = sidebar.isOpen(dashboard);
  const tag = dashboards.tag(id);
  const warning = warningOf(dashboard, trans);
  const status = {
    live: warning || trans.__('Live'),
    stale: staleMessage(dashboard, trans),
    unreachable: reason ?? trans.__('The kernel does not answer.')
  }[state];
  const known =
    summaryText(dashboard.summary, trans) || (kind === 'stock' ? scheduler.address : '');
  const summary = state === 'live' ? known : status;
  const [mark, color] = warning ? ['⚠', 'var(--jp-warn-color1)'] : STATE_MARKS[state];
  const Caret = isOpen ? caretDownIcon : caretRightIcon;
  return (
    <section
      key={id}
      className="jp-DaskDiag-dashboard"
      aria-label={shownName}
      data-dashboard={id}
      data-state={state}
    >
      <h3 className="jp-DaskDiag-header">
        <button
          className="jp-DaskDiag-fold"
          aria-expanded={isOpen}
          title={[notebook, scheduler.address].filter(Boolean).join('\n')}
          onClick={() => sidebar.toggle(dashboard)}
        >
          <Caret.react tag="span" />
          <span role="img" title={status} aria-label={status} style={{ color }}>
            {mark}
          </span>
          <span className="jp-DaskDiag-clusterName">{shownName}</span>
          {tag !== null && (
            <span className="jp-DaskDiag-tag" data-color={tag.color} title={tag.title}>
              {tag.letter}
            </span>
          )}
        </button>
        <button
          title={trans.__('Actions of this cluster')}
          aria-label={trans.__('Actions of this cluster')}
          aria-haspopup="menu"
          onClick={openContextMenu}
        >
          <ellipsesIcon.react tag="span" />
        </button>
      </h3>
      <div className="jp-DaskDiag-meta" title={summary}>
        {summary || '\u00a0'}
      </div>
      {warning && (
        <div className="jp-DaskDiag-meta" role="status" style={{ whiteSpace: 'normal' }}>
          {`⚠ ${warning}`}
        </div>
      )}
      {(dashboard.kind === 'diagnostics' || dashboard.summary?.tasks) &&
        taskProgress(dashboard.summary?.tasks, trans)}
      <div hidden={!isOpen}>
        {sidebar.query === '' && runList(sidebar.host.services, dashboard, sidebar.runsOf(id))}
        {sidebar.query === '' && dashboard.plots.length > 0 && (
          <button
            className="jp-DaskDiag-openLayout"
            onClick={() => runCommand(commands, CommandIDs.openLayout, { dashboard: id })}
          >
            {trans.__('Open the usual four')}
          </button>
        )}
        {groups.map(one => group(sidebar, one))}
      </div>
    </section>
  );
}

/** Open the context menu of a button below it. */
function openContextMenu({ currentTarget }: React.MouseEvent): void {
  const { left: clientX, bottom: clientY } = currentTarget.getBoundingClientRect();
  const at = { bubbles: true, cancelable: true, clientX, clientY };
  currentTarget.dispatchEvent(new MouseEvent('contextmenu', at));
}

function summaryText(summary: ISummary | null | undefined, trans: TranslationBundle): string {
  if (!summary) {
    return '';
  }
  const { workers, threads, memory_limit: limit } = summary;
  return [
    trans._n('%2 worker', '%2 workers', workers, count(workers)),
    trans._n('%2 thread', '%2 threads', threads, count(threads)),
    limit
      ? size(limit, 'B', true).replace(/\.0+ /, ' ')
      : limit === 0 && workers > 0 && trans.__('no memory limit')
  ]
    .filter(Boolean)
    .join(' · ');
}

function taskProgress(tasks: ISummary['tasks'] | undefined, trans: TranslationBundle): JSX.Element {
  const { total = 0, done = 0, erred = 0 } = tasks ?? {};
  const failed = erred > 0 ? ` · ${trans.__('%1 failed', count(erred))}` : '';
  const text = trans.__('%1 of %2 tasks done', count(done), count(total)) + failed;
  return (
    <div className="jp-DaskDiag-progress" role="img" aria-label={text} title={text}>
      <div style={{ flexGrow: done, background: 'var(--jp-brand-color1)' }} />
      <div style={{ flexGrow: erred, background: 'var(--jp-error-color1)' }} />
      <div style={{ flexGrow: Math.max(total - done - erred, 0) }} />
    </div>
  );
}

function group(sidebar: Sidebar, { name, plots, owner }: IListedGroup): JSX.Element {
  const isOpen = sidebar.isGroupOpen(name);
  const title = groupTitle(name, sidebar.host.services.trans);
  const Caret = isOpen ? caretDownIcon : caretRightIcon;
  return (
    <div key={name} data-group={name}>
      <button
        className="jp-DaskDiag-groupToggle"
        aria-expanded={isOpen}
        onClick={() => sidebar.toggleGroup(name)}
      >
        <Caret.react tag="span" />
        {title}
        {!isOpen && <small>{plots.length}</small>}
      </button>
      <ul className="jp-DaskDiag-plots" aria-label={title} hidden={!isOpen}>
        {plots.map(plot => row(sidebar.host, owner, plot))}
      </ul>
    </div>
  );
}

/** One plot: a click or Enter opens it, a drag places it, a star keeps it on top. */
function row(host: ISidebarHost, dashboard: string, known: IPlot): JSX.Element {
  const { name: plot, title, description } = known;
  const { commands, trans } = host.services;
  const isFavorite = host.favorites.has(plot);
  const starLabel = isFavorite
    ? trans.__('Remove %1 from favourites', title)
    : trans.__('Keep %1 on top', title);
  const icon = plotIcon(plot);
  return (
    <li
      key={plot}
      className={PLOT_ITEM_CLASS}
      data-plot={plot}
      data-dashboard={dashboard}
      data-available={known.unavailable === undefined}
      title={description}
    >
      <button
        className="jp-DaskDiag-plotButton"
        aria-description={description}
        onClick={() => runCommand(commands, CommandIDs.openPlot, { dashboard, plot })}
        onPointerDown={({ nativeEvent }) =>
          startDrag(nativeEvent, {
            plot,
            title,
            createPane: () => host.createPane(dashboard, plot),
            insertCell: (x, y) => host.insertCell(dashboard, plot, x, y)
          })
        }
      >
        <icon.react tag="span" />
        <span>{title}</span>
      </button>
      <button
        className="jp-DaskDiag-star"
        tabIndex={-1}
        title={starLabel}
        aria-label={starLabel}
        aria-pressed={isFavorite}
        onClick={() => runCommand(commands, CommandIDs.toggleFavorite, { plot })}
      >
        {isFavorite ? '★' : '☆'}
      </button>
    </li>
  );
}
