/** What plots and panes are given from outside; made once by a plugin. */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { ISignal } from '@lumino/signaling';

import type { IDashboards } from '../dashboards/dashboards';
import type { RunsModel } from '../dashboards/runs';
import type { BokehLoader } from '../plot/bokeh';
import type { IPlotTheme } from '../protocol/control';
import type { Server } from '../transport/server';

export interface IPlotServices {
  readonly commands: CommandRegistry;
  readonly dashboards: IDashboards;
  readonly runs: RunsModel;
  readonly server: Server;
  readonly loader: BokehLoader;
  readonly trans: TranslationBundle;
  /** What plots look like in the theme of now. */
  readonly theme: IPlotTheme;
  readonly themeChanged: ISignal<unknown, void>;
}

/** Run a command, where the plugin that has it is switched on. */
export function runCommand(
  commands: CommandRegistry,
  id: string,
  args: ReadonlyPartialJSONObject = {}
): void {
  if (commands.hasCommand(id)) {
    void commands.execute(id, args);
  }
}
