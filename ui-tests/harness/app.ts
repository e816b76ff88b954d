// What `expose_app_in_browser` puts on the window, as far as tests use it.

/** A widget of the main area; a notebook's has the two optional parts. */
export interface IWidget {
  id: string;
  context?: { path: string };
  sessionContext?: { ready: Promise<void>; session: { kernel: IKernel | null } | null };
}

export interface IKernel {
  info: Promise<unknown>;
  status: string;
  connectionStatus: string;
  restart(): Promise<void>;
}

export interface IApp {
  restored: Promise<void>;
  commands: { execute(id: string, args?: object): Promise<unknown> };
  shell: { widgets(area: string): Iterable<IWidget> };
}
