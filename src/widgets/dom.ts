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

/** Make these the children of an element; those that stay in their order are not touched. */
export function setChildren(parent: HTMLElement, nodes: readonly HTMLElement[]): void {
  for (const child of [...parent.children]) {
    if (!nodes.some(node => node === child)) {
      child.remove();
    }
  }
  nodes.forEach((node, i) => {
    if (parent.children[i] !== node) {
      parent.insertBefore(node, parent.children[i] ?? null);
    }
  });
}
