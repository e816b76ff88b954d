/** The colours of tasks as a setting: known values only, told to pictures at once. */

import { Preferences } from '../model/preferences';
import { PageLook } from '../widgets/theme';
import type { ILook } from '../wire';

describe('the palette', () => {
  it('is Dask’s own unless one that we know is chosen', () => {
    const preferences = new Preferences();
    expect(preferences.palette).toBe('viridis');
    preferences.update({ palette: 'okabe-ito' });
    expect(preferences.palette).toBe('okabe-ito');
    preferences.update({ palette: 'rainbow' });
    expect(preferences.palette).toBe('viridis');
  });

  it('is told to open pictures once for each change', () => {
    const look = new PageLook();
    const told: ILook['palette'][] = [];
    look.changed.connect((_, now) => void told.push(now.palette));
    look.setPalette('okabe-ito');
    look.setPalette('okabe-ito');
    expect([told, look.current.palette]).toEqual([['okabe-ito'], 'okabe-ito']);
    look.dispose();
  });
});
