/** What a saved page carries: BokehJS and its documents, packed; nothing is fetched. */

import { SavedSession, type PlotSession } from '../plot/session';
import { english } from '../text';
import { bytesIn } from '../transport/stream';

interface ISaved {
  readonly bokeh: string;
  readonly scripts: readonly string[];
  readonly documents: readonly object[];
}

/** Unpack what the page carries, and run the scripts that draw it. */
export async function unpack(text: string): Promise<ISaved> {
  const json = new TextDecoder().decode(await bytesIn(text, true));
  const saved = JSON.parse(json) as ISaved; // written by `server/saved.py`
  for (const script of saved.scripts) {
    document.head.append(Object.assign(document.createElement('script'), { text: script }));
  }
  return saved;
}

/** Open the plot of an article of the page. */
export async function openSaved(
  unpacked: Promise<ISaved>,
  article: HTMLElement
): Promise<PlotSession> {
  const { bokeh, documents } = await unpacked;
  const library = window.Bokeh?.[bokeh];
  const json = documents[Number(article.dataset.document)];
  if (library === undefined || json === undefined) {
    throw new Error('This file is damaged.');
  }
  return new SavedSession(library, json, english);
}
