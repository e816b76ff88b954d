/** The context menu by Shift+F10. */

/** Where the menu opens below the beginning of an element (px). */
const INSET_PX = 24;

/** Lumino puts menus here while they are open. */
const OPEN_MENU = 'body > .lm-Menu';

/**
 * Open the context menu of an element when the key asks for it; true when it did.
 *
 * The browser's own event for this key has Shift pressed, which Lab leaves to the browser's menu.
 * And a menu takes the focus, and leaves it to nobody: what had it gets it back.
 */
export function openMenuByKey(event: KeyboardEvent, element: Element): boolean {
  if (event.key !== 'F10' || !event.shiftKey) {
    return false;
  }
  event.preventDefault();
  event.stopPropagation();
  const focused = document.activeElement;
  const { left, top, width, height } = element.getBoundingClientRect();
  const clientX = left + Math.min(width / 2, INSET_PX);
  const clientY = top + Math.min(height, INSET_PX);
  const at = { bubbles: true, cancelable: true, clientX, clientY };
  element.dispatchEvent(new MouseEvent('contextmenu', at));
  const menu = document.querySelector(OPEN_MENU);
  const observer = new MutationObserver(() => {
    if (menu?.isConnected !== true) {
      observer.disconnect();
      if (document.activeElement === document.body && focused instanceof HTMLElement) {
        focused.focus();
      }
    }
  });
  observer.observe(document.body, { childList: true });
  return true;
}
