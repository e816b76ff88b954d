/** The code we put into people's notebooks: fixed texts, nothing interpolated but a checked name. */

import { UUID } from '@lumino/coreutils';

import { isPlotName } from '../wire';

/** Starts a local cluster. */
export const LOCAL_CLUSTER = 'from dask.distributed import Client\nclient = Client()';

/** Return the code that shows a plot in a cell; throw on a name that no plot has. */
export function plotCode(plot: string): string {
  if (!isPlotName(plot)) {
    throw new Error(`“${plot}” is not the name of a plot.`);
  }
  return `import dask_diag_lab\n\ndask_diag_lab.plot("${plot}")`;
}

/** A code cell as a notebook keeps it. */
export interface ICodeCell {
  readonly id: string;
  readonly cell_type: 'code';
  readonly source: string;
  readonly metadata: Record<string, never>;
  readonly outputs: readonly [];
  readonly execution_count: null;
}

export function codeCell(source: string): ICodeCell {
  const id = UUID.uuid4(); // notebooks keep it: by it a cell is found among others like it
  return { id, cell_type: 'code', source, metadata: {}, outputs: [], execution_count: null };
}
