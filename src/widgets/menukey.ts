/** The context menu by Shift+F10. */

/** Where the menu opens below the beginning of an element that is large (px). */
const INSET_PX = 24;

/**
 * Open the context menu of an element when the key asks for it; true when it did.
 *
 * The browser's own event for this key says that Shift is pressed, by which Lab takes it for a
 * wish for the browser's menu.
 */
export function openMenuByKey(event: KeyboardEvent, element: Element): boolean {
  if (event.key !== 'F10' || !event.shiftKey) {
    return false;
  }
  event.preventDefault();
  event.stopPropagation();
  const { left, top, width, height } = element.getBoundingClientRect();
  element.dispatchEvent(
    new MouseEvent('contextmenu', {
      bubbles: true,
      cancelable: true,
      clientX: left + Math.min(width / 2, INSET_PX),
      clientY: top + Math.min(height, INSET_PX)
    })
  );
  return true;
}
