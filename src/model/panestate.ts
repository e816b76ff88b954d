/** What a picture's pane says and offers, decided from everything known; pure. */

import type { FeedState } from '../api/feed';
import type { ITranslate } from '../api/words';
import type { IControl } from '../wire';
import { closedWords, staleWords } from './closed';
import type { IKnownDashboard } from './dashboards';
import { formatClock, formatMoment, formatSpan } from './format';

export type PaneState = 'connecting' | 'live' | 'paused' | 'stale' | 'offline';

/** Where the connection to the plot stands. */
export type Link =
  | { readonly phase: 'none' }
  | { readonly phase: 'opening'; readonly since: number }
  /** There is a picture; `since` when the server's greeting is awaited, 0 once it has come. */
  | { readonly phase: 'open'; readonly control: IControl; readonly since: number }
  | { readonly phase: 'failed'; readonly reason: string; readonly retryAt: number };

/** Everything a pane's state follows from; times in ms since the epoch. */
export interface ISituation {
  readonly now: number;
  readonly plotTitle: string;
  readonly dashboardName: string;
  readonly dashboard: IKnownDashboard | undefined;
  /** When the dashboard was last seen live; 0 when never. */
  readonly lastLive: number;
  /** When the dashboard stopped answering; 0 when it answers. */
  readonly silentSince: number;
  readonly hasPlot: boolean;
  readonly isListKnown: boolean;
  /** The pane was opened ahead of its cluster, just now. */
  readonly isAwaited: boolean;
  readonly feed: FeedState;
  readonly feedProblem: string;
  readonly link: Link;
  readonly isVisible: boolean;
  /** When this page learned that the picture is frozen; 0 while it is not. */
  readonly frozenSince: number;
  readonly hasPicture: boolean;
  /** The last picture before an empty one is shown, of a plot that ended. */
  readonly hasKept: boolean;
}

/** What the pane shows beside or instead of its picture. */
export interface IPresentation {
  readonly state: PaneState;
  /** Words over the picture, or in its place; '' when the picture speaks for itself. */
  readonly words: string;
  /** How long it has been so, counted while it lasts; '' when that does not matter. */
  readonly elapsed: string;
  readonly isGreyed: boolean;
  /** The line at the bottom; '' for none. */
  readonly note: string;
  /** Text of the way back to live data; '' when the picture follows. */
  readonly pill: string;
}

/** An opening that takes longer than this is told with its seconds (ms). */
const PATIENCE_MS = 1500;

/** Return what a pane shows in a situation. */
export function presentationOf(at: ISituation, trans: ITranslate): IPresentation {
  const told = troubleOf(at, trans) ?? (isAnswered(at) ? null : waiting(at, trans));
  if (told !== null) {
    // A reconnect of a moment does not flicker.
    return { elapsed: '', isGreyed: told.words !== '', note: '', pill: '', ...told };
  }
  return at.link.phase === 'open' ? connected(at, at.link.control, trans) : NOTHING_YET;
}

/** True while there is a picture, unless the one who is to keep it up to date is silent. */
function isAnswered({ link, now }: ISituation): boolean {
  return link.phase === 'open' && (link.since === 0 || now - link.since < PATIENCE_MS);
}

/** Before anything is known. */
export const NOTHING_YET: IPresentation = {
  state: 'connecting',
  words: '',
  elapsed: '',
  isGreyed: false,
  note: '',
  pill: ''
};

type Told = Pick<IPresentation, 'state' | 'words'> & Partial<Pick<IPresentation, 'elapsed'>>;

/** Reasons outside the picture's own connection: no server, no dashboard, a kernel that is busy. */
function troubleOf(at: ISituation, trans: ITranslate): Told | null {
  if (at.feed === 'missing') {
    const words = trans.__(
      'The server part of dask_diag_lab does not answer. Install it in the environment that runs Jupyter and restart the server.'
    );
    return { state: 'offline', words };
  }
  if (at.feed === 'lost' && at.link.phase !== 'open') {
    const words = trans.__(
      'The Jupyter server does not answer. This plot returns by itself when it does.'
    );
    return { state: 'offline', words };
  }
  if (at.dashboard === undefined && at.isAwaited) {
    const words = trans.__('Waiting for a cluster of %1…', at.dashboardName);
    return { state: 'connecting', words };
  }
  if (at.dashboard === undefined) {
    return at.isListKnown ? { state: 'offline', words: goneWords(at, trans) } : null;
  }
  if (at.dashboard.state === 'unreachable') {
    const seconds = (at.now - (at.silentSince || at.now)) / 1000;
    const reason = at.dashboard.reason ?? trans.__('%1 does not answer.', at.dashboardName);
    return { state: 'stale', words: reason, elapsed: formatSpan(seconds) };
  }
  return null;
}

function goneWords(at: ISituation, trans: ITranslate): string {
  const again = trans.__('Run the cell that makes the client again; this plot returns by itself.');
  if (at.lastLive === 0) {
    return `${trans.__('%1 has no cluster at the moment.', at.dashboardName)} ${again}`;
  }
  const clock = formatClock(at.lastLive);
  return `${trans.__('The cluster of %1 is gone since %2.', at.dashboardName, clock)} ${again}`;
}

function waiting(at: ISituation, trans: ITranslate): Told {
  if (at.dashboard?.kind === 'stock') {
    const words = trans.__(
      '%1 serves Dask’s own pages. Open this plot in a browser tab.',
      at.dashboardName
    );
    return { state: 'offline', words };
  }
  if (at.dashboard !== undefined && !at.hasPlot) {
    const words = trans.__(
      '%1 has no plot “%2”. Close this pane, or update dask_diag_lab there.',
      at.dashboardName,
      at.plotTitle
    );
    return { state: 'offline', words };
  }
  if (at.link.phase === 'failed') {
    const seconds = Math.max(0, (at.link.retryAt - at.now) / 1000);
    const { plotTitle, dashboardName } = at;
    return {
      state: 'connecting',
      words: trans.__('Cannot open %1 of %2: %3', plotTitle, dashboardName, at.link.reason),
      elapsed: trans.__('next try in %1', formatSpan(seconds))
    };
  }
  return opening(at, trans);
}

function opening(at: ISituation, trans: ITranslate): Told {
  const waited = 'since' in at.link ? at.now - at.link.since : 0;
  if (waited < PATIENCE_MS) {
    return { state: 'connecting', words: at.hasPicture ? '' : trans.__('Connecting…') };
  }
  return {
    state: 'connecting',
    words: trans.__('%1 has not answered yet; its kernel is busy.', at.dashboardName),
    elapsed: formatSpan(waited / 1000)
  };
}

function connected(at: ISituation, control: IControl, trans: ITranslate): IPresentation {
  const ended = endedWords(at, control, trans);
  const isEnded = ended !== '';
  const degraded = control.state === 'degraded' ? control.message : '';
  return {
    state: isEnded ? 'stale' : openState(at, control),
    words:
      withEmpty(ended, at, control) ||
      control.empty ||
      (control.state === 'connecting' ? control.message : ''),
    elapsed: '',
    isGreyed: isEnded,
    note: [degraded, control.note].filter(Boolean).join(' · '),
    pill: isEnded ? '' : pillOf(at, control, trans)
  };
}

function openState(at: ISituation, control: IControl): PaneState {
  const isAwaited = at.link.phase === 'open' && at.link.since > 0;
  if (control.state === 'connecting' || isAwaited) {
    return 'connecting';
  }
  return at.isVisible && !control.frozen ? 'live' : 'paused';
}

function pillOf(at: ISituation, control: IControl, trans: ITranslate): string {
  if (Math.round(control.behind_s) > 0) {
    return trans.__('live is %1 ahead', formatSpan(control.behind_s));
  }
  return control.frozen ? trans.__('frozen at %1', formatMoment(at.frozenSince)) : '';
}

/** Say also why there is nothing to see, where it ended without a picture. */
function withEmpty(ended: string, at: ISituation, control: IControl): string {
  const isOver = control.state === 'lost' || control.state === 'closed';
  return isOver && !at.hasKept ? [ended, control.empty].filter(Boolean).join(' · ') : ended;
}

/** Why the data ended behind a dashboard that still answers; '' when it did not. */
function endedWords(at: ISituation, control: IControl, trans: ITranslate): string {
  const lastLive = at.lastLive || at.now;
  switch (control.state) {
    case 'error':
      return control.message || trans.__('This plot failed; the kernel’s log says why.');
    case 'closed':
      return closedWords(control.closed_at * 1000 || at.now, control.message, trans);
    case 'lost':
      return control.message || staleWords(at.dashboard, lastLive, trans);
    case 'live':
    case 'degraded':
    case 'connecting':
      return at.dashboard?.state === 'stale' ? staleWords(at.dashboard, lastLive, trans) : '';
  }
}
