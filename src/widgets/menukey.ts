/** The context menu by Shift+F10. */

/** Where the menu opens in an element (px). */
const INSET_PX = 20;

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
  const { left, top } = element.getBoundingClientRect();
  const at = { clientX: left + INSET_PX, clientY: top + INSET_PX };
  element.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true, ...at }));
  const menu = document.querySelector('body > .lm-Menu'); // Lumino puts them here while they are open
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
