/** The context menu by Shift+F10. */

/** Where the menu opens below the beginning of an element that is large (px). */
const INSET_PX = 24;

/** Lumino puts menus here while they are open. */
const OPEN_MENU = 'body > .lm-Menu';

/**
 * Open the context menu of an element when the key asks for it; true when it did.
 *
 * The browser's own event for this key says that Shift is pressed, by which Lab takes it for a
 * wish for the browser's menu.
 *
 * @param refocus - give the focus back to what had it; called when the menu has gone and nothing
 * else took the focus.
 */
export function openMenuByKey(
  event: KeyboardEvent,
  element: Element,
  refocus: () => void
): boolean {
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
  const menu = document.querySelector(OPEN_MENU);
  if (menu !== null) {
    whenGone(menu, refocus);
  }
  return true;
}

/** A menu takes the focus, and leaves it to nobody. */
function whenGone(menu: Element, refocus: () => void): void {
  const observer = new MutationObserver(() => {
    if (!menu.isConnected) {
      observer.disconnect();
      if (document.activeElement === null || document.activeElement === document.body) {
        refocus();
      }
    }
  });
  observer.observe(document.body, { childList: true });
}
