/** Whose a key or a right click is: the pane's, or of a field or button inside its plot. */

const FIELDS = 'input, textarea, select, [contenteditable], .slick-cell.editable';
const BUTTONS =
  'button, a[href], summary, [role="button"], [role="tab"], [role="option"], [role="checkbox"]';

/** Inputs that take no letters. */
const KEYLESS = ['button', 'checkbox', 'radio', 'range', 'submit', 'reset', 'color', 'file'];

/**
 * True when a key belongs to what has the focus: a letter to a field, Space and Enter to a button.
 *
 * Bokeh's widgets live in shadow roots, out of which a change of focus between two of them is
 * never told; so it is decided for each key, by the innermost element that gets it.
 */
export function isKeyTaken(event: KeyboardEvent): boolean {
  const inner = innermost(event);
  if (inner === null) {
    return false;
  }
  const field = inner.closest(FIELDS);
  if (field !== null && !isKeyless(field)) {
    return true;
  }
  const isButton = field !== null || inner.closest(BUTTONS) !== null;
  return isButton && (event.key === ' ' || event.key === 'Enter');
}

/** Leave the browser's own menu, in which one pastes, to the text fields inside an element. */
export function keepFieldMenus(element: HTMLElement): void {
  element.addEventListener('contextmenu', event => {
    const field = innermost(event)?.closest(FIELDS) ?? null;
    if (field !== null && !isKeyless(field) && !(field instanceof HTMLSelectElement)) {
      event.stopPropagation(); // Lab's menu opens further out
    }
  });
}

function innermost(event: Event): Element | null {
  const inner = event.composedPath()[0];
  return inner instanceof Element ? inner : null;
}

function isKeyless(field: Element): boolean {
  return field instanceof HTMLInputElement && KEYLESS.includes(field.type);
}
