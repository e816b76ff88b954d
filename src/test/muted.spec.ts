/** How the last picture of a cluster that is gone looks: the same in a browser tab as in a pane. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const PAGE = 'dask_diag_lab/server/static/page.css';

/** What a style sheet declares for a selector; jsdom cannot read container queries around it. */
function declared(file: string, selector: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8').replace(/\/\*[^]*?\*\//g, '');
  const rules = text.split('}').map(rule => rule.split('{'));
  const own = rules.filter(([names = '']) => names.split(/,\s*/).some(s => s.trim() === selector));
  return own.flatMap(([, body = '']) => body.split(';').map(line => line.trim())).filter(Boolean);
}

it('the last picture of a cluster that is gone keeps muted colours, in tabs as in panes', () => {
  const pane = declared(
    'style/base.css',
    ".jp-DaskDiag-plot[data-greyed='true'] > .jp-DaskDiag-stage"
  );
  expect(pane).toEqual(['filter: grayscale(0.5)', 'opacity: 0.65']);
  for (const state of ['lost', 'closed', 'offline']) {
    expect(declared(PAGE, `.plot[data-state="${state}"] .picture`)).toEqual(pane);
  }
});
