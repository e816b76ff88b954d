/** What plots and panes are given from outside; made once by a plugin. */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { ISignal } from '@lumino/signaling';
import type { Menu } from '@lumino/widgets';

import type { IDashboards } from '../dashboards/dashboards';
import type { RunsModel } from '../dashboards/runs';
import type { BokehLoader } from '../plot/bokeh';
import type { ILook } from '../protocol/control';
import type { Server } from '../transport/server';

/** A key as people read it, and what it does. */
export interface IKey {
  readonly keys: string;
  readonly label: string;
}

export interface IPlotServices {
  readonly commands: CommandRegistry;
  /** The one that Lab opens for context menus. */
  readonly contextMenu: Menu;
  readonly dashboards: IDashboards;
  readonly runs: RunsModel;
  readonly server: Server;
  readonly loader: BokehLoader;
  readonly trans: TranslationBundle;
  /** What plots look like in the theme of now. */
  readonly look: ILook;
  readonly lookChanged: ISignal<unknown, void>;
  /** The keys that act on a pane now, with what they do. */
  keys(): readonly IKey[];
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

/** Open the context menu of an element; what has the focus gets it back when it closes. */
export function openContextMenu(
  menu: Menu,
  element: Element,
  clientX: number,
  clientY: number
): void {
  const focused = document.activeElement;
  const at = { bubbles: true, cancelable: true, clientX, clientY };
  element.dispatchEvent(new MouseEvent('contextmenu', at));
  const giveBack = (): void => {
    menu.aboutToClose.disconnect(giveBack);
    if (focused instanceof HTMLElement) {
      focused.focus();
    }
  };
  if (menu.isAttached) {
    menu.aboutToClose.connect(giveBack);
  }
}

/** Where a menu that a key has opened lies in its element (px). */
const INSET_PX = 20;

/**
 * Open the context menu of an element when the key asks for it.
 *
 * The browser's own event for this key has Shift pressed, which Lab leaves to the browser's menu.
 */
export function openMenuByKey(menu: Menu, event: KeyboardEvent, element: Element): void {
  if (event.key === 'F10' && event.shiftKey) {
    event.preventDefault();
    event.stopPropagation();
    const { left, top } = element.getBoundingClientRect();
    openContextMenu(menu, element, left + INSET_PX, top + INSET_PX);
  }
}
