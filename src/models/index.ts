/**
 * The browser side of our own Bokeh models (views/models.py): what a stock model could do only
 * with code sent as text, which a page without `unsafe-eval` does not run, or too slowly.
 *
 * Runs once after each version of BokehJS, and adds the models to every version that lacks them.
 */

import { axisModels } from './axes';
import { barModels } from './barchart';
import { register } from './bokeh';
import { canvasChart } from './canvas';
import { flameModels } from './flames';
import { graphModels } from './graph';
import { progressModels } from './progress';
import { rendererModels } from './renderers';
import { streamModels } from './stream';
import { timelineModels } from './timeline';

const PARTS = [
  ...[axisModels, barModels, flameModels, graphModels],
  ...[progressModels, rendererModels, streamModels, timelineModels]
];

register(bokeh => {
  const chart = canvasChart(bokeh);
  return [chart, ...PARTS.flatMap(models => models(bokeh, chart))];
});
