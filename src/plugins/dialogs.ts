/** What commands say and ask. */

import { InputDialog, Notification } from '@jupyterlab/apputils';

import { messageOf, type ITranslate } from '../text';

const SHOWN = { autoClose: 6000 };

/** Say something that needs no answer. */
export function notify(message: string): void {
  Notification.info(message, SHOWN);
}

/** Say what has failed, and why. */
export function notifyError(message: string, reason: unknown, trans: ITranslate): void {
  Notification.error(`${message} ${messageOf(reason, trans)}`, SHOWN);
}

/** Let the user pick one of several; undefined when none was picked. */
export async function pick<T>(
  title: string,
  items: readonly T[],
  label: (item: T) => string
): Promise<T | undefined> {
  const labels = items.map(label);
  const { value } = await InputDialog.getItem({ title, items: labels });
  return value === null ? undefined : items[labels.indexOf(value)];
}

/** The palette has given the focus back by then: to a panel, its notebook, and the cell of that. */
export async function afterPalette(): Promise<void> {
  for (let frames = 0; frames < 3; frames++) {
    await new Promise(requestAnimationFrame);
  }
}
