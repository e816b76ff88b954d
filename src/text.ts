/** Texts on the page: translated, of errors, times and helps, and the elements that hold them. */

/** The part of a translation bundle that is used here; Lab's has it, and plain pages use `english`. */
export interface ITranslate {
  __(text: string, ...values: (string | number)[]): string;
  /** For what is no literal here: texts of a dashboard. */
  gettext(text: string): string;
}

/** English, where nobody translates; `%1` is the first value, as in Lab's bundles. */
export const english: ITranslate = {
  __: (text, ...values) => text.replace(/%(\d+)/g, (_, n) => String(values[Number(n) - 1] ?? '')),
  gettext: text => text
};

/** Thrown when the other side broke the contract; the message names the field. */
export class ProtocolError extends Error {
  constructor(readonly where: string) {
    super(`The server’s answer is not what this version understands (${where}).`);
  }
}

/** Return the message of an error, in the reader's language where it is one of ours. */
export function messageOf(error: unknown, trans: ITranslate): string {
  if (error instanceof ProtocolError) {
    return trans.__('The server’s answer is not what this version understands (%1).', error.where);
  }
  return error instanceof Error ? error.message : String(error);
}

/** A span of seconds, coarse: `12 s`, `3 min`, `2 h`. */
export function formatSpan(seconds: number): string {
  if (seconds < 99.5) {
    return `${Math.max(0, Math.round(seconds))} s`;
  }
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** Return a new element with attributes and children; children that are strings become text. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Show a text in an element, or hide it for ''; the same text is not announced or laid out twice. */
export function setText(element: HTMLElement, text: string): void {
  element.hidden = text === '';
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

/** Return a help text as elements: a paragraph each, lines that begin with "- " with a bullet. */
export function helpNodes(text: string): readonly HTMLElement[] {
  return text.split(/\n\s*\n|\n(?=\s*- )/).map(block => {
    const [, bullet = '', line = ''] = /^(- )?([^]*)$/.exec(block.trim()) ?? [];
    const [, term = '', rest = line] = (bullet && /^([^:]{1,60})(: [^]+)$/.exec(line)) || [];
    return h('p', {}, bullet && '• ', h('b', {}, term), rest);
  });
}
