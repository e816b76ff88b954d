/** What a plot shows beside or instead of its picture, decided from everything known; pure. */

import type { IControl } from './control';
import { formatClock, formatSpan, formatTime } from './format';
import type { ITranslate } from './text';

export type PlotState = 'connecting' | 'live' | 'paused' | 'stale' | 'offline';

/** Where the connection to the plot stands; times in ms since the epoch. */
export type Link =
  | { readonly phase: 'none' }
  | { readonly phase: 'opening'; readonly since: number }
  | { readonly phase: 'open'; readonly control: IControl }
  | { readonly phase: 'failed'; readonly reason: string; readonly retryAt: number };

/** A reason outside the plot's own connection: no server, no cluster, a kernel that is busy. */
export interface ITrouble {
  readonly state: PlotState;
  readonly message: string;
  /** Since when, in ms since the epoch; told while it lasts. */
  readonly since?: number;
}

/** Everything that a plot's state follows from. */
export interface ISituation {
  readonly now: number;
  readonly plotTitle: string;
  readonly dashboardName: string;
  readonly trouble: ITrouble | null;
  readonly link: Link;
  readonly isSeen: boolean;
  readonly hasPicture: boolean;
  /** When this page learned that the picture is frozen; 0 while it is not. */
  readonly frozenSince: number;
}

export interface IPresentation {
  readonly state: PlotState;
  /** A sentence over the picture, or in its place; '' when the picture needs none. */
  readonly message: string;
  /** How long it has been so; '' when that does not matter. */
  readonly elapsed: string;
  readonly isGreyed: boolean;
  /** The line at the bottom; '' for none. */
  readonly note: string;
  /** Text of the way back to live data; '' when the picture follows. */
  readonly pill: string;
}

/** Before anything is known. */
export const NOTHING_YET: IPresentation = {
  state: 'connecting',
  message: '',
  elapsed: '',
  isGreyed: false,
  note: '',
  pill: ''
};

/** An opening that takes longer than this is told with its seconds (ms). */
const PATIENCE_MS = 1500;

/** Return what a plot shows in a situation. */
export function presentationOf(at: ISituation, trans: ITranslate): IPresentation {
  const { trouble, link } = at;
  if (trouble === null && link.phase === 'open') {
    return connected(at, link.control, trans);
  }
  const shown = trouble === null ? waiting(at, trans) : { ...trouble, elapsed: elapsedOf(at) };
  // A reconnect of a moment does not flicker.
  return { ...NOTHING_YET, isGreyed: shown.message !== '', ...shown };
}

function elapsedOf({ trouble, now }: ISituation): string {
  return trouble?.since === undefined ? '' : formatSpan((now - trouble.since) / 1000);
}

function waiting(at: ISituation, trans: ITranslate): Partial<IPresentation> & { message: string } {
  const { link, plotTitle, dashboardName } = at;
  if (link.phase === 'failed') {
    const seconds = Math.max(0, (link.retryAt - at.now) / 1000);
    return {
      message: trans.__('Cannot open %1 of %2: %3', plotTitle, dashboardName, link.reason),
      elapsed: trans.__('next try in %1', formatSpan(seconds))
    };
  }
  if (link.phase === 'none' && !at.isSeen) {
    return { state: 'paused', message: '' }; // it connects once somebody sees it
  }
  const waited = link.phase === 'opening' ? at.now - link.since : 0;
  if (waited < PATIENCE_MS) {
    return { message: at.hasPicture ? '' : trans.__('Connecting…') };
  }
  return {
    message: trans.__('%1 has not answered yet; its kernel is busy.', dashboardName),
    elapsed: formatSpan(waited / 1000)
  };
}

function connected(at: ISituation, control: IControl, trans: ITranslate): IPresentation {
  const ended = endedMessage(at, control, trans);
  const isEnded = ended !== '';
  const state = control.state === 'connecting' ? 'connecting' : null;
  const seen = at.isSeen && !control.isFrozen ? 'live' : 'paused';
  const empty = trans.__(control.empty);
  return {
    state: isEnded ? 'stale' : (state ?? seen),
    message:
      (isEnded ? [ended, empty].filter(Boolean).join(' · ') : empty) ||
      (control.state === 'connecting' ? control.message : ''),
    elapsed: '',
    isGreyed: isEnded,
    note: [control.state === 'degraded' ? control.message : '', control.note]
      .filter(Boolean)
      .join(' · '),
    pill: isEnded ? '' : pillOf(at, control, trans)
  };
}

function pillOf(at: ISituation, control: IControl, trans: ITranslate): string {
  if (Math.round(control.behind_s) > 0) {
    return trans.__('live is %1 ahead', formatSpan(control.behind_s));
  }
  return control.isFrozen ? trans.__('frozen at %1', formatTime(at.frozenSince)) : '';
}

/** Why the data ended behind a dashboard that still answers; '' when it did not. */
function endedMessage(at: ISituation, control: IControl, trans: ITranslate): string {
  switch (control.state) {
    case 'error':
      return control.message || trans.__('This plot failed; the kernel’s log says why.');
    case 'closed':
      return closedMessage(control.closedAt * 1000 || at.now, control.message, trans);
    case 'lost':
      return control.message || closedMessage(at.now, '', trans);
    case 'live':
    case 'degraded':
    case 'connecting':
      return '';
  }
}

/**
 * Say since when a cluster is closed, and why where more than its end is known.
 *
 * @param timeMs - when it closed, in ms since the epoch.
 * @param reason - what the server says of it; '' or null for nothing.
 */
export function closedMessage(timeMs: number, reason: string | null, trans: ITranslate): string {
  const clock = formatClock(timeMs);
  return reason
    ? trans.__('Ended at %1 · %2', clock, reason)
    : trans.__('Cluster closed at %1 · history kept until the kernel stops', clock);
}
