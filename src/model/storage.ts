/** What the browser keeps for Lab's address, where the user lets it. */

/** As much of the browser's storage as is used. */
export type IStorage = Pick<Storage, 'getItem' | 'setItem'>;

/** Return it; null where it is switched off, which throws on touch. */
export function browserStorage(): IStorage | null {
  try {
    return window.localStorage;
  } catch (reason) {
    console.warn('dask-diag-lab: this browser keeps nothing.', reason);
    return null;
  }
}
