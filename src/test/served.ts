/** The scripts of the pages that a dashboard serves itself; plain JavaScript, without types. */

import { join } from 'node:path';

const STATIC = join(__dirname, '../../dask_diag_lab/server/static');

/** Load a script; `Exports` is what the caller knows of it. */
export function served<Exports extends object>(name: string): Exports {
  return jest.requireActual<Exports>(join(STATIC, name));
}
