/** The plugin of runs: one that all plots show, and the way from a run to its cell. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { codeIcon } from '@jupyterlab/ui-components';
import { UUID } from '@lumino/coreutils';
import { MessageLoop } from '@lumino/messaging';
import type { Widget } from '@lumino/widgets';

import type { IKnownDashboard } from '../dashboards/dashboards';
import { clock } from '../models/units';
import type { IRun } from '../protocol/dashboard';
import { CommandIDs } from '../tokens';
import { diagIcon } from '../widgets/icons';
import type { Pane } from '../widgets/pane';
import { runLabel } from '../widgets/runs';
import { describedBy, isPointed, notify, pick, textArg, type Args } from './commands';
import { addOn, askDashboard, dashboardArg, pointedAt, type IContext } from './context';
import type { IPlacement, PaneManager } from './panemanager';

/** What is opened where no plot is that could show a run. */
const FIRST_PLOT = 'budget';

/** How long a cell is marked that was asked for (ms). */
const FLASH_MS = 1500;

export const runsPlugin = addOn(
  'runs',
  'Shows what a piece of code made a Dask cluster do, in all plots of it.',
  [],
  addRunCommands
);

function addRunCommands(context: IContext): void {
  const { app, panes } = context;
  const { runs, trans } = context.services;
  panes?.tracker.widgetAdded.connect((_, pane) => {
    if (pane.content.plot === 'compare' && !pane.isDisposed) {
      followComparison(context, panes, pane);
    } else if (pane.key.startsWith(COMPARED)) {
      pane.content.changed.connect(() => moveOthers(panes, pane));
    }
  });
  app.commands.addCommand(CommandIDs.showRun, {
    label: args => (isPointed(args) ? trans.__('Show in all plots') : trans.__('Show a run…')),
    caption: trans.__('Show what one piece of code did, in all open plots of its cluster'),
    icon: diagIcon,
    describedBy: describedBy('dashboard', 'run', 'isPointed'),
    execute: async args => {
      const [dashboard, run] = (await askRun(context, args)) ?? [];
      if (dashboard && run) {
        const binding = panes?.bindingTo(dashboard.id);
        if (binding && panes && panes.of(binding).length === 0) {
          panes.open(FIRST_PLOT, binding, { isActivated: false });
        }
        if (
          panes &&
          streamsOf(panes).some(({ content }) => content.binding.dashboard === dashboard.id)
        ) {
          closeStreams(panes); // they would show this run, and come back with theirs
        }
        runs.select(dashboard.id, run.number);
      }
    }
  });
  app.commands.addCommand(CommandIDs.showRunCell, {
    label: args =>
      isPointed(args) ? trans.__('Show its cell') : trans.__('Show the cell of a run…'),
    icon: codeIcon,
    describedBy: describedBy('dashboard', 'run', 'isPointed'),
    execute: async args => {
      const [dashboard, run] = (await askRun(context, args)) ?? [];
      if (dashboard && run && !(await showCell(context, dashboard, run))) {
        notify(trans.__('The cell of “%1” is not in a notebook that is open here.', run.name));
      }
    }
  });
  app.commands.addCommand(CommandIDs.compareRuns, {
    label: args => (isPointed(args) ? trans.__('Compare with…') : trans.__('Compare two runs…')),
    caption: trans.__('Show what differs between two runs, also of a recording'),
    icon: diagIcon,
    describedBy: describedBy('dashboard', 'run', 'other', 'otherDashboard', 'isPointed'),
    execute: async args => {
      const first = await askRun(context, args);
      if (first === undefined || !panes) {
        return;
      }
      const dashboard = textArg(args, 'otherDashboard') ?? first[0].id;
      const other =
        args['other'] === undefined
          ? await askOther(context, first)
          : await askRun(context, { dashboard, run: args['other'] });
      if (other) {
        // Else each plot would go on showing that one.
        [first, other].forEach(([owner]) => runs.select(owner.id, null));
        compare(context, panes, [first, other]);
      }
    }
  });
}

type OwnedRun = readonly [IKnownDashboard, IRun];

/**
 * What the keys of the task streams that a comparison opened begin with, also after a reload; the
 * moment at which its run began comes next (ms).
 */
const COMPARED = 'compared-';

function streamsOf({ tracker }: PaneManager): readonly Pane[] {
  // One that was led back to live is a pane like any other.
  return tracker.filter(
    ({ key, content }) => key.startsWith(COMPARED) && content.arguments['run'] !== undefined
  );
}

function closeStreams(panes: PaneManager): void {
  streamsOf(panes).forEach(stream => stream.dispose());
}

/** Show the same seconds of both runs, where a stream that the reader is at has moved. */
function moveOthers(panes: PaneManager, { key, content }: Pane): void {
  const streams = streamsOf(panes);
  const [leader] = [':hover', ':focus-within'].flatMap(
    used => streams.find(({ node }) => node.matches(used)) ?? []
  );
  const { start, stop } = content.live.control?.tableArguments ?? {};
  if (leader?.key !== key || !start || !stop) {
    return;
  }
  const beganAt = (of: string): number => Number(of.slice(COMPARED.length).split('-')[0]) / 1000;
  for (const other of streams.filter(one => one !== leader)) {
    const by = beganAt(other.key) - beganAt(key);
    const [from, to] = [start, stop].map(time => (Number(time) + by).toFixed(3)) as [
      string,
      string
    ];
    other.content.choose({ ...other.content.arguments, start: from, stop: to });
  }
}

/** Mark the runs that a pane compares, until it is closed, and their streams with it. */
function followComparison({ services: { runs } }: IContext, panes: PaneManager, pane: Pane): void {
  const { content } = pane;
  let marked = '';
  const mark = (): void => {
    const { before, after, before_of: of } = content.arguments;
    const { dashboard } = content.binding;
    const pair = [[of ?? dashboard, Number(before)] as const, [dashboard, Number(after)] as const];
    if (before && after && marked !== String(pair)) {
      marked = String(pair);
      runs.setCompared(pair, pane);
    }
  };
  content.changed.connect(mark);
  mark();
  pane.disposed.connect(() => runs.forgetCompared(pane) && closeStreams(panes));
}

/** A place that is lower has no room for two task streams below each other: side by side (px). */
const TWO_STREAMS_PX = 560;

/**
 * Open what differs between two runs, and what their threads did, on one scale of time: in front of
 * what has the most room beside that.
 */
function compare({ app, services }: IContext, panes: PaneManager, pair: readonly OwnedRun[]): void {
  const inOrder = [...pair].sort(([, a], [, b]) => a.start - b.start);
  const [[beforeOwner, before], [owner, after]] = inOrder as [OwnedRun, OwnedRun];
  const numbers = { before: String(before.number), after: String(after.number) };
  const given = owner === beforeOwner ? numbers : { ...numbers, before_of: beforeOwner.id };
  closeStreams(panes); // the pair before gives way
  const difference = panes.open('compare', panes.bindingTo(owner.id), { arguments: given });
  const named = inOrder.map(([{ id }, { number }]) => [id, number] as const);
  services.runs.setCompared(named, difference); // it may be there, and another one be marked
  const lengths = pair.map(([, { start, stop }]) => (stop ?? Date.now() / 1000) - start);
  const longest = Math.max(...lengths);
  MessageLoop.flush(); // gives what is seen the size that it has from now on
  const area = ({ node }: Widget): number => node.offsetWidth * node.offsetHeight;
  const seen = [...app.shell.widgets('main')].filter(one => one.isVisible && one !== difference);
  const [largest] = seen.sort((a, b) => area(b) - area(a));
  const { id: ref, node } = largest ?? difference;
  const split = node.offsetHeight > TWO_STREAMS_PX ? 'split-bottom' : 'split-right';
  let place: IPlacement = { mode: largest ? 'tab-after' : 'split-right', ref };
  for (const [{ id }, { number, start }] of inOrder) {
    const alone = { run: String(number), stop: (start + longest).toFixed(3) };
    const key = `${COMPARED}${Math.round(1000 * start)}-${UUID.uuid4()}`;
    const stream = panes.create('task-stream', panes.bindingTo(id), alone, key);
    panes.show(stream, place);
    panes.activate(stream);
    place = { mode: split, ref: stream.id };
  }
  panes.activate(difference);
}

/** Return the run that is meant; let the user pick one where it is not said. */
async function askRun(context: IContext, args: Args): Promise<OwnedRun | undefined> {
  const { runs, trans } = context.services;
  const dashboard = await askDashboard(context, dashboardArg(context, args));
  if (dashboard === undefined) {
    return undefined;
  }
  const number = args['run'] ?? pointedAt(context, args, 'run');
  const isMeant = (one: IRun): boolean => one.number === Number(number);
  const known = runs.of(dashboard.id).find(isMeant);
  const all = known ? [known] : await runs.all(dashboard.id);
  if (number === undefined && all.length === 0) {
    notify(trans.__('Nothing has been computed yet.'));
    return undefined;
  }
  const run =
    number === undefined
      ? await pick(trans.__('Which run?'), all, one => timed(one, trans))
      : all.find(isMeant);
  return run && [dashboard, run];
}

/** Let the user pick what a run is compared with: of its cluster, or another one or a recording. */
async function askOther(
  { services }: IContext,
  [dashboard, { number }]: OwnedRun
): Promise<OwnedRun | undefined> {
  const { dashboards, runs, trans } = services;
  const owners = [dashboard, ...dashboards.all.filter(({ id }) => id !== dashboard.id)];
  const each = owners.map(async owner =>
    (await runs.all(owner.id)).map(run => [owner, run] as const)
  );
  const others = (await Promise.all(each))
    .flat()
    .filter(([owner, run]) => owner !== dashboard || run.number !== number);
  if (others.length === 0) {
    notify(trans.__('It is the only run: compute once more, or open a recording, to compare.'));
    return undefined;
  }
  return pick(trans.__('Compare with which run?'), others, ([owner, run]) => {
    const label = timed(run, trans);
    return owner === dashboard ? label : `${owner.shownName} · ${label}`;
  });
}

/** Runs of one cell, or of blocks, may have one name. */
function timed(run: IRun, trans: TranslationBundle): string {
  return `${runLabel(run, trans)} · ${clock(run.start)}`;
}

/** Bring the cell of a run into view, and mark it for a moment. */
async function showCell(
  { app, notebooks }: IContext,
  { kernel_id: kernel }: IKnownDashboard,
  run: IRun
): Promise<boolean> {
  const panel = notebooks?.find(
    one => kernel !== null && one.sessionContext.session?.kernel?.id === kernel
  );
  const index = panel?.content.widgets.findIndex(one => one.model.id === run.cell) ?? -1;
  const cell = panel?.content.widgets[index];
  if (!panel || !cell) {
    return false;
  }
  app.shell.activateById(panel.id);
  panel.content.activeCellIndex = index;
  await panel.content.scrollToItem(index, 'start');
  cell.node.animate({ background: ['var(--jp-brand-color3)', 'transparent'] }, FLASH_MS);
  return true;
}
