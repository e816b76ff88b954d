/** What a plot shows beside or instead of its picture, decided from everything known; pure. */

import { clock } from '../models/units';
import type { Control } from '../protocol/control';
import { formatSpan, type ITranslate } from '../text';

export type PlotState = 'connecting' | 'live' | 'paused' | 'stale' | 'offline';

/** Where the connection to the plot stands; times in ms since the epoch. */
export type ConnectionState =
  | { readonly phase: 'none' }
  | { readonly phase: 'opening'; readonly since: number }
  | { readonly phase: 'open'; readonly control: Control }
  | { readonly phase: 'failed'; readonly reason: string; readonly retryAt: number };

/** What the reader can answer to a message. */
export interface IChoice {
  readonly id: string;
  readonly label: string;
  choose(): void;
}

/** A reason outside the plot's own connection: no server, no cluster, a kernel that is busy. */
export interface IBlocker {
  readonly state: PlotState;
  readonly message: string;
  /** Since when, in ms since the epoch; told while it lasts. */
  readonly since?: number;
  readonly choices?: readonly IChoice[];
}

/** What is around a plot. */
export interface IPlotContext {
  readonly plotTitle: string;
  readonly dashboardName: string;
  readonly blocker: IBlocker | null;
  /** By what unusual way it comes. */
  readonly transport?: string;
}

/** Everything that a plot's state follows from. */
export interface ISituation extends IPlotContext {
  readonly now: number;
  readonly connection: ConnectionState;
  readonly isSeen: boolean;
  readonly hasPicture: boolean;
  /** Whether the picture is that of a cluster that was left. */
  readonly isLeft: boolean;
}

/** What is shown before anything is known. */
export const NOTHING_YET = {
  state: 'connecting' as PlotState,
  /** A sentence over the picture, or in its place; '' when the picture needs none. */
  message: '',
  /** Buttons behind it. */
  choices: [] as readonly IChoice[],
  /** How long it has been so; '' when that does not matter. */
  elapsed: '',
  isGreyed: false,
  /** The line at the bottom; '' for none. */
  note: '',
  /** Text of the way back to live data; '' when the picture follows. */
  pill: '',
  /** The stretch of time that can be applied to all panes, in words; '' for none. */
  chosen: ''
};

export type Presentation = Readonly<typeof NOTHING_YET>;

/** An opening that takes longer than this is told with its seconds (ms). */
const PATIENCE_MS = 1500;

/** Return what a plot shows in a situation. */
export function presentationOf(at: ISituation, trans: ITranslate): Presentation {
  const { now, blocker, connection, plotTitle, dashboardName } = at;
  const span = (ms: number): string => formatSpan(ms / 1000);
  if (blocker !== null) {
    const { state, message, since, choices = [] } = blocker;
    const elapsed = since === undefined ? '' : span(now - since);
    return { ...NOTHING_YET, state, message, choices, elapsed, isGreyed: true };
  }
  if (connection.phase === 'open') {
    return connected(at, connection.control, trans);
  }
  if (connection.phase === 'failed') {
    const message = trans.__(
      'Cannot open %1 of %2: %3',
      plotTitle,
      dashboardName,
      connection.reason
    );
    const elapsed = trans.__('next try in %1', span(connection.retryAt - now));
    return { ...NOTHING_YET, message, elapsed, isGreyed: true };
  }
  if (connection.phase === 'none' && !at.isSeen) {
    return { ...NOTHING_YET, state: 'paused' }; // it connects once somebody sees it
  }
  const waited = connection.phase === 'opening' ? now - connection.since : 0;
  if (at.hasPicture && at.isLeft) {
    const message = trans.__(
      'Changing to %1; this picture is of the cluster before.',
      dashboardName
    );
    return { ...NOTHING_YET, message, elapsed: '', isGreyed: true };
  }
  if (waited < PATIENCE_MS) {
    // A reconnect of a moment does not flicker.
    return { ...NOTHING_YET, message: at.hasPicture ? '' : trans.__('Connecting…') };
  }
  const message = trans.__(
    '%1 has not answered yet; its kernel or scheduler is busy.',
    dashboardName
  );
  return { ...NOTHING_YET, message, elapsed: span(waited), isGreyed: true };
}

function connected(at: ISituation, control: Control, trans: ITranslate): Presentation {
  const { message, state, isFrozen, behind_s: behind } = control;
  const isClosed = state === 'closed';
  const isRecording = isClosed && control.closedAt === 0; // no end of anything that was followed
  const isEnded = (isClosed && !isRecording) || state === 'error' || state === 'lost';
  const ended = isClosed ? closedMessage(control.closedAt * 1000, message, trans) : message;
  const isConnecting = state === 'connecting';
  const live = at.isSeen && !isFrozen ? 'live' : 'paused';
  const reasons = [isEnded ? ended : '', trans.gettext(control.empty)].filter(Boolean).join(' · ');
  const isNoted = isRecording || state === 'degraded';
  const notes = [isNoted ? message : '', control.note, at.transport ?? ''];
  const frozen = isFrozen ? trans.__('frozen') : '';
  const { period } = control;
  const ofAll =
    period &&
    (period.is_shown ? trans.__('%1 · All panes', period.text) : trans.__('Not %1', period.text));
  const own = behind > 0 ? trans.__('live is %1 ahead', formatSpan(behind)) : frozen;
  return {
    ...NOTHING_YET,
    state: isEnded || isClosed ? 'stale' : isConnecting ? 'connecting' : live,
    message: reasons || (isConnecting ? message : ''),
    isGreyed: isEnded,
    note: notes.filter(Boolean).join(' · '),
    pill: ofAll ?? (isEnded || isClosed ? '' : own),
    chosen: control.chosen?.text ?? ''
  };
}

/**
 * Say since when a cluster is closed, and why where more than its end is known.
 *
 * @param timeMs - when it closed, in ms since the epoch.
 * @param reason - what the server says of it; '' or null for nothing.
 */
export function closedMessage(timeMs: number, reason: string | null, trans: ITranslate): string {
  const time = clock(timeMs / 1000).slice(0, 5);
  return reason
    ? trans.__('Ended at %1 · %2', time, reason)
    : trans.__('Cluster closed at %1 · history kept until the kernel stops', time);
}
