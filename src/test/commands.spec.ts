import type { JupyterFrontEnd } from '@jupyterlab/application';
import { InputDialog } from '@jupyterlab/apputils';

import type { IShared } from '../plugins/context';
import { linksPlugin } from '../plugins/links';
import { runsPlugin } from '../plugins/runs';
import { CommandIDs } from '../tokens';
import type { IPlotServer } from '../transport/remote';
import { dashboard, DashboardList, RUN, trans } from './dashboards';
import { FakeApp, services } from './services';
import { PlotStream } from '../transport/stream';

/** An application with some plugins, and a cluster that is reached by what is given. */
function activated(way: Partial<IPlotServer>): { app: FakeApp; context: IShared } {
  const app = new FakeApp();
  const list = new DashboardList();
  list.set(dashboard({ id: 'one', shownName: 'etl.ipynb' }));
  const stream = new PlotStream(() => ({ send: () => undefined, close: () => undefined }), trans);
  const remote: IPlotServer = {
    get: () => Promise.reject(new Error()),
    url: String,
    stream,
    ...way
  };
  const given = services(list, { relayed: () => remote });
  const context = { app, services: given, notebooks: null } as unknown as IShared; // all they ask for
  for (const { activate } of [linksPlugin, runsPlugin]) {
    void activate(app as unknown as JupyterFrontEnd, context, null);
  }
  return { app, context };
}

it('a recording and that of a run are saved, also where only messages lead to the kernel', async () => {
  const { app } = activated({ url: path => Promise.resolve(`blob:${path}`) });
  const saved: unknown[] = [];
  Object.assign(URL, { revokeObjectURL: () => undefined });
  const click = jest.spyOn(HTMLAnchorElement.prototype, 'click');
  click.mockImplementation(function (this: HTMLAnchorElement) {
    saved.push([this.href, this.download]);
  });
  await app.commands.execute(CommandIDs.saveRecording, { dashboard: 'one' });
  const row = document.createElement('li');
  Object.assign(row.dataset, { dashboard: 'one', run: '3' });
  app.contextMenuHitTest = () => row;
  await app.commands.execute(CommandIDs.saveRecording, { isPointed: true });
  expect(saved).toEqual([
    ['blob:recording.daskrun', 'etl.daskrun'],
    ['blob:recording.daskrun?run=3', 'etl.daskrun']
  ]);
  click.mockRestore();
});

it('all runs that are kept are offered, not only those of the list', async () => {
  const kept = Array.from({ length: 40 }, (_, at) => ({ ...RUN, number: 40 - at, start: at }));
  const { app, context } = activated({ get: () => Promise.resolve({ runs: kept }) });
  const offered: number[] = [];
  const choose = jest.spyOn(InputDialog, 'getItem').mockImplementation(({ items }) => {
    offered.push(items.length);
    return Promise.resolve({ button: { accept: true }, value: items.at(-1) } as never); // as a click
  });
  const select = jest.spyOn(context.services.runs, 'select');
  await app.commands.execute(CommandIDs.showRun);
  expect(offered).toEqual([40]);
  expect(select).toHaveBeenCalledWith('one', 1);
  choose.mockRestore();
});
