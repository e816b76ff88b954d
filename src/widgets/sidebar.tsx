/** The list of clusters and their plots in Lab's left area; fills and empties by itself. */

import type { TranslationBundle } from '@jupyterlab/translation';
import {
  caretRightIcon,
  ellipsesIcon,
  FilterBox,
  ReactWidget,
  SidePanel,
  UseSignal,
  type LabIcon
} from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import { Panel, type Widget } from '@lumino/widgets';
import React from 'react';

import type { IDashboards, IKnownDashboard } from '../api/dashboards';
import type { IPlot, ISummary } from '../api/protocol';
import { formatCount } from '../plot/format';
import { size } from '../models/units';
import { PLOT_ITEM_CLASS, SIDEBAR_ID } from '../tokens';
import { FAVOURITES, grouped, translated, whyUnlisted } from './catalogue';
import { startDrag } from './drag';
import { diagIcon, plotIcon, starIcon } from './icons';
import { openMenuByKey } from './menukey';
import { missingServer, staleMessage } from './plotwidget';
import type { SidebarModel } from './sidebarmodel';

/** What the sidebar does to the application around it. */
export interface ISidebarHost {
  readonly dashboards: IDashboards;
  readonly model: SidebarModel;
  readonly trans: TranslationBundle;
  readonly favorites: ReadonlySet<string>;
  toggleFavorite(plot: string): void;
  openPlot(dashboard: string, plot: string): void;
  openLayout(dashboard: string): void;
  createPane(dashboard: string, plot: string): Widget;
  /** Make a plot a cell of the notebook whose middle is at this place; false if there is none. */
  insertCell(plot: string, clientX: number, clientY: number): boolean;
  openMenu(dashboard: string, anchor: HTMLElement): void;
  /** Put the code of a local cluster into the active notebook. */
  insertClient(): void;
}

export class Sidebar extends SidePanel {
  constructor(private readonly _host: ISidebarHost) {
    super({ content: new Panel() }); // one list, not an accordion
    const { trans, model, dashboards } = _host;
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
          updateFilter={(_, query = '') => (model.query = query.trim())}
        />
      )
    );
    const list = ReactWidget.create(
      <UseSignal signal={model.changed}>
        {() => <SidebarList {..._host} clear={() => this._clear()} />}
      </UseSignal>
    );
    list.addClass('jp-DaskDiag-list');
    this.addWidget(list);
    this.node.addEventListener('keydown', this._onKey);
    model.isHovered = () => list.node.matches(':hover'); // a drag swallows the event of leaving
    list.node.addEventListener('pointerleave', () => model.update());
    dashboards.changed.connect(this._showDot, this);
    this._showDot();
  }

  /** Put the cursor into the search field. */
  focusSearch(): void {
    this._input.current?.focus();
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    this.focusSearch();
  }

  /** The icon in Lab's bar has a dot while there is a cluster. */
  private _showDot(): void {
    const hasLive = this._host.dashboards.all.some(one => one.state !== 'stale');
    this.title.className = hasLive ? 'jp-DaskDiag-hasDashboards' : '';
  }

  private _clear(): void {
    const input = this._input.current;
    if (input !== null) {
      input.value = '';
      input.dispatchEvent(new Event('input', { bubbles: true }));
      input.focus();
    }
  }

  /** Up and down go through the rows, right and left between a row and its star. */
  private readonly _onKey = (event: KeyboardEvent): void => {
    const all = this.node.querySelectorAll<HTMLElement>('.jp-DaskDiag-plotButton');
    const rows = [...all].filter(row => row.closest('[hidden]') === null);
    const item = document.activeElement?.closest(`.${PLOT_ITEM_CLASS}`) ?? null;
    const at = rows.findIndex(row => row.parentElement === item);
    const isSearching = document.activeElement === this._input.current;
    if (item !== null && openMenuByKey(event, item)) {
      return;
    }
    let target: HTMLElement | null | undefined;
    if (isSearching && event.key === 'Escape' && this._host.model.query !== '') {
      this._clear();
      target = this._input.current;
    } else if (isSearching && event.key === 'Enter') {
      rows[0]?.click();
      target = this._input.current;
    } else if (isSearching || item !== null) {
      const targets: Readonly<Record<string, HTMLElement | null | undefined>> = {
        ArrowDown: rows[at + 1],
        ArrowUp: at > 0 ? rows[at - 1] : this._input.current,
        ...(item === null
          ? {}
          : {
              Home: rows[0],
              End: rows[rows.length - 1],
              ArrowRight: item.querySelector<HTMLElement>('.jp-DaskDiag-star'),
              ArrowLeft: rows[at]
            })
      };
      target = targets[event.key];
    }
    if (target) {
      event.preventDefault();
      event.stopPropagation();
      target.focus();
    }
  };

  private readonly _input = React.createRef<HTMLInputElement>();
}

type ListProps = ISidebarHost & { readonly clear: () => void };

function SidebarList(props: ListProps): JSX.Element {
  const { dashboards, model, trans } = props;
  const listed = model.dashboards();
  const sections = listed.map(dashboard => ({
    dashboard,
    groups: grouped(
      dashboard.plots.map(plot => translated(plot, trans)),
      model.query,
      props.favorites
    )
  }));
  // A cluster none of whose plots match is out of the way while one searches.
  const shown = sections.filter(({ groups }) => model.query === '' || groups.length > 0);
  const problem = problemOf(dashboards, trans);
  const plots = listed.flatMap(one => one.plots);
  return (
    <>
      {problem !== '' && (
        <p className="jp-DaskDiag-problem" role="status">
          {problem}
        </p>
      )}
      {listed.length === 0 && problem === '' && (
        <div className="jp-DaskDiag-hint">
          <p>
            {dashboards.isKnown
              ? trans.__(
                  'No Dask cluster is running here. Make a client in a notebook and its plots appear by themselves.'
                )
              : trans.__('Looking for Dask clusters…')}
          </p>
          <button className="jp-mod-styled" onClick={props.insertClient}>
            {trans.__('Insert code for a local cluster')}
          </button>
        </div>
      )}
      {listed.length > 0 && shown.length === 0 && (
        <div className="jp-DaskDiag-hint">
          <p role="status">
            {trans.__('No plot matches “%1”.', model.query)}{' '}
            {whyUnlisted(model.query, plots, trans)}
          </p>
          <button className="jp-mod-styled" onClick={props.clear}>
            {trans.__('Clear the search')}
          </button>
        </div>
      )}
      {shown.map(({ dashboard, groups }) => (
        <Section key={dashboard.id} dashboard={dashboard} groups={groups} host={props} />
      ))}
    </>
  );
}

function problemOf(dashboards: IDashboards, trans: TranslationBundle): string {
  if (dashboards.feedState === 'missing') {
    return missingServer(trans);
  }
  return dashboards.feedState === 'lost'
    ? trans.__('The list of clusters does not arrive: %1', dashboards.problem)
    : '';
}

/** One dashboard: what it is and how it does, its plots in groups below. */
function Section(props: {
  readonly dashboard: IKnownDashboard;
  readonly groups: ReturnType<typeof grouped>;
  readonly host: ISidebarHost;
}): JSX.Element {
  const { dashboard, groups, host } = props;
  const { trans, model } = host;
  const { id, shownName, state, notebook, scheduler } = dashboard;
  const isOpen = model.isOpen(dashboard);
  const tag = host.dashboards.tag(id);
  const status = {
    live: trans.__('Live'),
    stale: staleMessage(dashboard, host.dashboards.goneAt(id), trans),
    unreachable: dashboard.reason ?? trans.__('The kernel does not answer.')
  }[state];
  const summary = state === 'live' ? summaryText(dashboard.summary, trans) : status;
  const found = groups.reduce((sum, { plots }) => sum + plots.length, 0);
  const actions = trans.__('Actions of this cluster');
  return (
    <section
      className="jp-DaskDiag-dashboard"
      aria-label={shownName}
      data-dashboard={id}
      data-state={state}
    >
      <div className="jp-DaskDiag-header">
        <h3>
          <button
            className="jp-DaskDiag-fold"
            aria-expanded={isOpen}
            title={[notebook, scheduler.address].filter(Boolean).join('\n')}
            onClick={() => model.toggle(dashboard)}
          >
            <caretRightIcon.react tag="span" className="jp-DaskDiag-caret" />
            <span className="jp-DaskDiag-dot" role="img" title={status} aria-label={status} />
            {tag !== null && (
              <span className="jp-DaskDiag-tag" data-color={tag.color} title={tag.title}>
                {tag.letter}
              </span>
            )}
            <span className="jp-DaskDiag-clusterName">{shownName}</span>
            {model.query !== '' && !isOpen && <small>{trans.__('%1 found', found)}</small>}
          </button>
        </h3>
        <button
          className="jp-DaskDiag-menuButton"
          aria-haspopup="menu"
          title={actions}
          aria-label={actions}
          onClick={({ currentTarget }) => host.openMenu(id, currentTarget)}
        >
          <ellipsesIcon.react tag="span" />
        </button>
      </div>
      <div className="jp-DaskDiag-meta" title={summary}>
        {summary || '\u00a0'}
      </div>
      <TaskProgress tasks={dashboard.summary?.tasks} trans={trans} />
      <div hidden={!isOpen}>
        {model.query === '' && dashboard.plots.length > 0 && (
          <button className="jp-DaskDiag-openLayout" onClick={() => host.openLayout(id)}>
            {trans.__('Open the usual four')}
          </button>
        )}
        {groups.map(({ name, plots }) => (
          <Group key={name} name={name} plots={plots} dashboard={id} host={host} />
        ))}
      </div>
    </section>
  );
}

function summaryText(summary: ISummary | null | undefined, trans: TranslationBundle): string {
  if (!summary) {
    return '';
  }
  const { workers, threads, memory_limit: limit } = summary;
  return [
    trans._n('%2 worker', '%2 workers', workers, formatCount(workers)),
    trans._n('%2 thread', '%2 threads', threads, formatCount(threads)),
    limit > 0 ? size(limit, 'B', true).replace(/\.0+ /, ' ') : ''
  ]
    .filter(Boolean)
    .join(' · ');
}

function TaskProgress(props: {
  readonly tasks: ISummary['tasks'] | undefined;
  readonly trans: TranslationBundle;
}): JSX.Element {
  const { trans } = props;
  const { total = 0, done = 0, erred = 0, processing = 0 } = props.tasks ?? {};
  const parts = [
    trans.__('%1 of %2 tasks done', formatCount(done), formatCount(total)),
    processing > 0 ? trans.__('%1 processing', formatCount(processing)) : '',
    erred > 0 ? trans.__('%1 failed', formatCount(erred)) : ''
  ];
  const text = total > 0 ? parts.filter(Boolean).join(' · ') : trans.__('No tasks');
  const width = (part: number): string => `${total > 0 ? Math.min(100, (100 * part) / total) : 0}%`;
  return (
    <div
      className="jp-DaskDiag-progress"
      role="progressbar"
      aria-label={trans.__('Tasks done')}
      aria-valuemin={0}
      aria-valuemax={Math.max(total, 1)}
      aria-valuenow={done}
      aria-valuetext={text}
      title={text}
    >
      <div className="jp-DaskDiag-done" style={{ width: width(done) }} />
      <div className="jp-DaskDiag-erred" style={{ width: width(erred) }} />
    </div>
  );
}

function Group(props: {
  readonly name: string;
  readonly plots: readonly IPlot[];
  readonly dashboard: string;
  readonly host: ISidebarHost;
}): JSX.Element {
  const { name, plots, dashboard, host } = props;
  const { model, trans } = host;
  const isOpen = model.isGroupOpen(name);
  const title = name === FAVOURITES ? trans.__('Favourites') : trans.__(name);
  return (
    <div data-group={name}>
      <button
        className="jp-DaskDiag-groupToggle"
        aria-expanded={isOpen}
        onClick={() => model.toggleGroup(name)}
      >
        <caretRightIcon.react tag="span" className="jp-DaskDiag-caret" />
        <span>{title}</span>
        {!isOpen && <small>{plots.length}</small>}
      </button>
      <ul className="jp-DaskDiag-plots" aria-label={title} hidden={!isOpen}>
        {plots.map(plot => (
          <Row key={plot.name} plot={plot} dashboard={dashboard} host={host} />
        ))}
      </ul>
    </div>
  );
}

/** One plot: a click or Enter opens it, a drag places it, a star keeps it on top. */
function Row(props: {
  readonly plot: IPlot;
  readonly dashboard: string;
  readonly host: ISidebarHost;
}): JSX.Element {
  const { plot, dashboard, host } = props;
  const { name, title, description } = plot;
  const { trans } = host;
  const isFavorite = host.favorites.has(name);
  const starLabel = isFavorite
    ? trans.__('Remove %1 from favourites', title)
    : trans.__('Keep %1 on top', title);
  const icon: LabIcon = plotIcon(name);
  return (
    <li className={PLOT_ITEM_CLASS} data-plot={name} data-dashboard={dashboard} title={description}>
      <button
        className="jp-DaskDiag-plotButton"
        aria-description={description}
        onClick={() => host.openPlot(dashboard, name)}
        onPointerDown={({ nativeEvent }) =>
          startDrag(nativeEvent, {
            plot: name,
            title,
            createPane: () => host.createPane(dashboard, name),
            insertCell: (x, y) => host.insertCell(name, x, y)
          })
        }
      >
        <icon.react tag="span" className="jp-DaskDiag-plotIcon" />
        <span>{title}</span>
      </button>
      <button
        className="jp-DaskDiag-star"
        tabIndex={-1}
        title={starLabel}
        aria-label={starLabel}
        aria-pressed={isFavorite}
        onClick={() => host.toggleFavorite(name)}
      >
        <starIcon.react tag="span" />
      </button>
    </li>
  );
}
