/** What dashboards are called on screen: short where short is enough to tell them apart. */

import { PathExt } from '@jupyterlab/coreutils';

/**
 * Return one name per path or name given, all different.
 *
 * A file name where it is unique, else with its folder, else with a number behind it.
 */
export function shownNames(names: readonly string[]): readonly string[] {
  const short = names.map(name => PathExt.basename(name) || name);
  const longer = short.map((name, i) => (occurs(short, name) > 1 ? (names[i] ?? name) : name));
  return longer.map((name, i) => {
    const earlier = occurs(longer.slice(0, i), name);
    return earlier === 0 ? name : `${name} (${earlier + 1})`;
  });
}

function occurs(names: readonly string[], name: string): number {
  return names.filter(other => other === name).length;
}
