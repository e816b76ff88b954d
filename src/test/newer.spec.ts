/** Which newer cluster a pane is offered. */

import { bindingOf, boundTo, type IBinding } from '../model/binding';
import type { IKnownDashboard } from '../model/dashboards';
import { newerOf } from '../model/newer';
import { DashboardList, known } from './dashboards';
import { NEWERS, type Listed } from './newers';

const one = (values: Listed & Partial<IKnownDashboard>): IKnownDashboard =>
  known({ kernel_id: 'k', notebook: null, ...values });

/** What a pane that came to `own` with the first list is offered with the last. */
function offered(...lists: readonly (readonly IKnownDashboard[])[]): string | null {
  const dashboards = new DashboardList();
  let binding: IBinding | null = null;
  for (const all of lists) {
    dashboards.set(...all);
    const own = dashboards.get('own')!;
    binding = boundTo(own, binding ?? bindingOf(own), all);
  }
  return newerOf(binding!, 'task-stream', dashboards)?.id ?? null;
}

describe('a pane is offered', () => {
  it.each(NEWERS)('$what', ({ first, then, offered: expected }) => {
    expect(offered(...[first, ...then].map(list => list.map(one)))).toBe(expected);
  });

  it('one of the next kernel of its notebook too, of which a browser tab knows nothing', () => {
    const own = one({ id: 'own', notebook: 'a.ipynb' });
    const next = { id: 'b', kernel_id: 'k2' };
    expect(offered([own], [own, one({ ...next, notebook: 'a.ipynb' })])).toBe('b');
    expect(offered([own], [own, one({ ...next, notebook: 'b.ipynb' })])).toBeNull();
  });
});
