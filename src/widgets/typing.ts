/** Whose a key is: the pane's, or of a field or button inside its plot. */

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
  const inner = event.composedPath()[0];
  if (!(inner instanceof Element)) {
    return false;
  }
  const field = inner.closest(FIELDS);
  const isKeyless = field instanceof HTMLInputElement && KEYLESS.includes(field.type);
  if (field !== null && !isKeyless) {
    return true;
  }
  const isButton = isKeyless || inner.closest(BUTTONS) !== null;
  return isButton && (event.key === ' ' || event.key === 'Enter');
}
