// A table of a plot follows what happens: Bokeh alone draws its cells only when rows come or go.
import { CLUSTER, WORK } from '../harness/ipynb';
import { expect, test } from '../harness/test';

test('the table of workers changes its cells while work runs', async ({ lab, server }) => {
  const notebook = await lab.open(server.writeNotebook('table.ipynb', [CLUSTER, WORK]));
  await notebook.run(0);
  await lab.sidebar();
  await lab.reveal('workers');
  await lab.command('dask-diag-lab:open-plot', { plot: 'workers' });
  const pane = await lab.livePane('workers');
  const rows = pane.locator('.slick-row');
  await expect(rows).toHaveCount(2 * 2); // each is in two parts: its name stays when it scrolls
  const texts = async (): Promise<string> => (await rows.allInnerTexts()).join('\n');
  const processing = async (): Promise<number> => {
    const heads = await pane.locator('.slick-column-name').allInnerTexts();
    const at = heads.indexOf('Processing');
    const cells = await pane.locator(`.slick-cell.l${at}`).allInnerTexts();
    return cells.reduce((sum, cell) => sum + Number(cell.replace(/,/g, '')), 0);
  };
  await expect.poll(processing).toBe(0);

  await notebook.run(1);
  await expect.poll(processing, { message: 'work appears in the cells' }).toBeGreaterThan(0);
  const before = await texts();
  await expect.poll(texts, { message: 'the cells go on changing' }).not.toBe(before);
  await expect(rows).toHaveCount(2 * 2);
});
