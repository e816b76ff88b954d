/** The buttons of a pane's toolbar: names, icons, and what each asks of the pane. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { fitIcon, frozenIcon, helpIcon, pictureIcon, tabIcon, tableIcon } from './icons';
import type { IToolbarButton } from './toolbar';

/** What the buttons do. */
export interface IPaneActions {
  holdOrFollow(): void;
  fit(): void;
  toggleTable(): void;
  savePicture(): void;
  toggleHelp(): void;
  openInBrowser(): void;
}

/** Return the buttons, in order. */
export function paneButtons(
  trans: TranslationBundle,
  actions: IPaneActions
): readonly IToolbarButton[] {
  return [
    {
      name: 'live',
      label: trans.__('Freeze (Space)'),
      icon: frozenIcon,
      run: () => actions.holdOrFollow(),
      isKept: true
    },
    { name: 'fit', label: trans.__('Fit (F)'), icon: fitIcon, run: () => actions.fit() },
    {
      name: 'table',
      label: trans.__('Data as a table'),
      icon: tableIcon,
      run: () => actions.toggleTable()
    },
    {
      name: 'picture',
      label: trans.__('Save picture'),
      icon: pictureIcon,
      run: () => actions.savePicture()
    },
    {
      name: 'help',
      label: trans.__('How to read this (?)'),
      icon: helpIcon,
      run: () => actions.toggleHelp()
    },
    {
      name: 'browser',
      label: trans.__('Open in browser tab'),
      icon: tabIcon,
      run: () => actions.openInBrowser()
    }
  ];
}
