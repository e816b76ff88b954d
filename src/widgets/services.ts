/** What plots and panes are given from outside; made once by a plugin. */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ISignal } from '@lumino/signaling';

import type { IDashboards } from '../api/dashboards';
import type { Server } from '../api/server';
import type { BokehLoader } from '../plot/bokeh';
import type { ILook } from '../plot/control';

/** A key as people read it, and what it does. */
export interface IKey {
  readonly keys: string;
  readonly label: string;
}

export interface IPlotServices {
  readonly commands: CommandRegistry;
  readonly dashboards: IDashboards;
  readonly server: Server;
  readonly loader: BokehLoader;
  readonly trans: TranslationBundle;
  /** What plots look like in the theme of now. */
  readonly look: ILook;
  readonly lookChanged: ISignal<unknown, void>;
  /** The keys that act on a pane now, with what they do. */
  keys(): readonly IKey[];
}
