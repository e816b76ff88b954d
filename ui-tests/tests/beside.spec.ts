// Bokeh, Panel and hvplot load a BokehJS of their own into the page: neither disturbs the other.
import { Page } from '@playwright/test';

import { CLUSTER, WORK } from '../harness/ipynb';
import { Notebook } from '../harness/notebook';
import { expectToShow } from '../harness/picture';
import { expect, test } from '../harness/test';

const PANEL = `import panel as pn
from bokeh.plotting import figure
pn.extension(inline=True)
picture = figure(width=300, height=150)
picture.line([1, 2], [1, 2])
pn.Column(pn.widgets.IntSlider(name="Of Panel"), picture)`;

const HVPLOT = `import holoviews
holoviews.extension("bokeh", inline=True, logo=False)
import hvplot.pandas
import pandas
pandas.DataFrame({"Of hvplot": [1, 2, 3]}).hvplot.line(y="Of hvplot")`;

/** After Panel, which finds nothing of its own where this was first, without us too. */
const BOKEH = `from bokeh.io import output_notebook, show
from bokeh.layouts import column
from bokeh.models import Slider
from bokeh.plotting import figure
from bokeh.resources import INLINE
output_notebook(INLINE, hide_banner=True)
picture = figure(width=300, height=150)
picture.line([1, 2], [1, 2])
show(column(Slider(title="Of Bokeh", start=0, end=9, value=1), picture))`;

const LIBRARIES = [PANEL, HVPLOT, BOKEH];

const hasBokeh = (page: Page): Promise<boolean> => page.evaluate(() => 'Bokeh' in window);

async function expectDrawn(notebook: Notebook, cell: number, slider: string): Promise<void> {
  await notebook.run(cell, 120_000);
  const output = notebook.cell(cell).locator('.jp-OutputArea');
  await expectToShow(output, 60_000);
  await expect(output.getByText(slider)).toBeVisible();
}

test('Bokeh, Panel and hvplot draw beside our plots, and ours beside theirs', async ({
  lab,
  page,
  server
}) => {
  const path = server.writeNotebook('beside.ipynb', [CLUSTER, WORK, ...LIBRARIES]);
  const notebook = await lab.open(path);
  await notebook.run(0);
  await notebook.run(1);
  const open = async (plot: string): Promise<void> => {
    await lab.command('dask-diag-lab:open-plot', { plot, arguments: {} });
    await expectToShow(await lab.livePane(plot));
  };
  await open('task-stream');
  expect(await hasBokeh(page)).toBe(false);
  await expectDrawn(notebook, 2, 'Of Panel:');
  await notebook.run(3, 120_000);
  await expectToShow(notebook.cell(3).locator('.jp-OutputArea'), 60_000);
  await expectDrawn(notebook, 4, 'Of Bokeh:');
  const theirs = await page.evaluateHandle(() => Reflect.get(window, 'Bokeh') as object);
  await lab.command('dask-diag-lab:open-plot', { plot: 'workers', arguments: {} });
  await expect((await lab.livePane('workers')).locator('.slick-row').first()).toBeVisible();
  expect(await theirs.evaluate(one => one === Reflect.get(window, 'Bokeh'))).toBe(true);
});

// With Panel in the kernel cells of before are blank after a reload, without us too.
test('a cell draws after a reload, which restored panes of ours come before', async ({
  lab,
  page,
  server
}) => {
  const notebook = await lab.open(server.writeNotebook('reload.ipynb', [CLUSTER, WORK, BOKEH]));
  await notebook.run(0);
  await notebook.run(1);
  await lab.command('dask-diag-lab:open-plot', { plot: 'progress', arguments: {} });
  await expectToShow(await lab.livePane('progress'));
  await lab.saved('progress');
  await page.reload();
  await lab.restored();
  await expectToShow(await lab.livePane('progress'));
  expect(await hasBokeh(page)).toBe(false);
  await expectDrawn(await lab.notebook('reload.ipynb'), 2, 'Of Bokeh:');
  await lab.command('dask-diag-lab:open-plot', { plot: 'task-stream', arguments: {} });
  await expectToShow(await lab.livePane('task-stream'));
});
