/**
 * The browser side of our own Bokeh models (views/scripted.py): what a stock model could do only
 * with code sent as text, which a page without `unsafe-eval` does not run, or too slowly.
 *
 * Runs once after each version of BokehJS, and adds the models to every version that lacks them.
 */

import { barModels } from './barchart';
import { register } from './bokeh';
import { flameModels } from './flames';
import { graphModels } from './graph';
import { progressModels } from './progress';
import { rendererModels, tickModels } from './renderers';
import { streamModels } from './stream';
import { unitModels } from './units';
import { timelineModels } from './timeline';

register(bokeh => [
  ...barModels(bokeh),
  ...flameModels(bokeh),
  ...graphModels(bokeh),
  ...progressModels(bokeh),
  ...rendererModels(bokeh),
  ...streamModels(bokeh),
  ...timelineModels(bokeh),
  ...tickModels(bokeh),
  ...unitModels(bokeh)
]);
