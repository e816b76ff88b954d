/** A live document that a test sets, in place of one of a kernel. */

import { Control, type IPlotTheme, type IPlotLink, type IPeriod } from '../protocol/control';
import type { PlotSession } from '../plot/session';
import type { IConnection, IReceiver } from '../transport/stream';

export const THEME: IPlotTheme = {
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
  onLink: (link: IPlotLink) => void = () => undefined;
  control = new Control({ state: 'live' });
  isOpen = true;
  isDisposed = false;
  isVisible: boolean | null = null;
  readonly sent: unknown[] = [];
  readonly themes: IPlotTheme[] = [];
  readonly selected: (IPeriod | null)[] = [];

  draw(element: HTMLElement): Promise<void> {
    element.append('picture');
    return Promise.resolve();
  }
  setVisible(isVisible: boolean): void {
    this.isVisible = isVisible;
  }
  setTheme(theme: IPlotTheme): void {
    this.themes.push(theme);
  }
  send(...command: unknown[]): void {
    this.sent.push(command);
  }
  select(period: IPeriod | null): void {
    this.selected.push(period);
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

/** A way to a dashboard which a test speaks for. */
export class FakeTransport {
  connections = 0;
  isOpen = false;
  receiver: IReceiver | undefined;
  readonly sent: unknown[] = [];

  readonly connect = (receiver: IReceiver): IConnection => {
    this.receiver = receiver;
    this.connections += 1;
    this.isOpen = true;
    return {
      send: text => this.sent.push(JSON.parse(text)),
      close: () => (this.isOpen = false)
    };
  };

  /** The server sends messages in one frame, with buffers of zeros. */
  say(...messages: object[]): void {
    this.receiver?.onFrame(frameOf(...messages));
  }

  /** The connection ends. */
  end(reason: string): void {
    this.isOpen = false;
    this.receiver?.onClose(reason);
  }
}

/** Return the frame of some messages. */
export function frameOf(...messages: object[]): ArrayBuffer {
  const text = [...new TextEncoder().encode(JSON.stringify(messages))];
  const sizes = messages.flatMap(one => (one as { buffers?: [string, number][] }).buffers ?? []);
  const zeros = sizes.flatMap(([, size]) => Array.from<number>({ length: size }).fill(0));
  return Uint8Array.from([text.length & 255, text.length >> 8, 0, 0, ...text, ...zeros]).buffer;
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
