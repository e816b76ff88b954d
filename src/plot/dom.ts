/** Making elements in one expression; text goes in as text, never as HTML. */

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
