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

/** Set an element's text if it differs, so that nothing is announced or laid out twice. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

/** The innermost element of an event, also inside the shadow roots of Bokeh's widgets. */
export function innermost(event: Event): Element | null {
  const [inner] = event.composedPath();
  return inner instanceof Element ? inner : null;
}

/** True for an element that takes what is typed. */
export function isField(element: Element | null): boolean {
  const field = element?.closest(
    'input, textarea, select, [contenteditable], .slick-cell.editable'
  );
  return (
    field != null &&
    !['button', 'checkbox', 'radio', 'range'].includes(field.getAttribute('type') ?? '')
  );
}
