/** A live document that a test sets, in place of one of a kernel. */

import { Control, type ILook, type IOpening } from '../plot/control';
import type { PlotSession } from '../plot/session';

export const LOOK: ILook = {
  name: 'light',
  foreground: '#000000',
  muted: '#666666',
  grid: '#eeeeee',
  background: '#ffffff',
  accent: '#1976d2',
  font: 'sans-serif',
  font_size: '11px',
  palette: 'viridis',
  zone: 'UTC'
};

export class FakeSession {
  onChanged = (): void => undefined;
  onClosed = (): void => undefined;
  onOpening: (opening: IOpening) => void = () => undefined;
  control = new Control({ state: 'live' });
  isOpen = true;
  isDisposed = false;
  isVisible: boolean | null = null;
  readonly sent: unknown[] = [];
  readonly looks: ILook[] = [];

  draw(element: HTMLElement): Promise<void> {
    element.append('picture');
    return Promise.resolve();
  }
  setVisible(isVisible: boolean): void {
    this.isVisible = isVisible;
  }
  setLook(look: ILook): void {
    this.looks.push(look);
  }
  send(...command: unknown[]): void {
    this.sent.push(command);
  }
  picture(): Promise<Blob> {
    return Promise.resolve(new Blob());
  }
  dispose(): void {
    this.isOpen = false;
    this.isDisposed = true;
  }

  /** The server says something. */
  say(values: object): void {
    this.control = new Control({ state: 'live', ...values });
    this.onChanged();
  }

  /** The connection ends. */
  end(): void {
    this.isOpen = false;
    this.onClosed();
  }

  get asSession(): PlotSession {
    return this as unknown as PlotSession; // all that a plot uses of one
  }
}

/** Let promises that are settled go on. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 10; i += 1) {
    await Promise.resolve();
  }
}

/** Wait for a condition; jest ends a test that waits for ever. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await new Promise(resolve => setTimeout(resolve, 5));
  }
}
