/** The code we put into people's notebooks: fixed texts, nothing interpolated but a checked name. */

import { isPlotName } from '../plot/control';

/** Starts a local cluster. */
export const LOCAL_CLUSTER = 'from dask.distributed import Client\nclient = Client()';

/** Return the code that shows a plot in a cell; throw on a name that no plot has. */
export function plotCode(plot: string): string {
  if (!isPlotName(plot)) {
    throw new Error(`“${plot}” is not the name of a plot.`);
  }
  return `import dask_diag_lab\n\ndask_diag_lab.plot("${plot}")`;
}
