/** Keeps Lumino's dragging of tabs right in a bar that is scrolled. */

const PINNED = 'jp-DaskDiag-pinned';
const SHIFT = '--jp-DaskDiag-shift';

/** Lumino's mark of a bar one of whose tabs is dragged. */
const DRAGGING = 'lm-mod-dragging';

/**
 * While a tab of this bar is pressed and moved, shift its tabs instead of scrolling them.
 *
 * Lumino measures tabs from the beginning of their bar and the pointer from where the bar is on
 * screen, which differ by what is scrolled. Nothing is seen of the change.
 */
export function pinWhilePressed(bar: HTMLElement): void {
  const pressed = new AbortController();
  const options = { capture: true, signal: pressed.signal };
  // The window hears of it before the document, on which Lumino listens.
  window.addEventListener('pointermove', () => pin(bar), options);
  const end = (): void => {
    pressed.abort();
    whenDropped(bar.parentElement, () => unpin(bar));
  };
  window.addEventListener('pointerup', end, options);
  window.addEventListener('pointercancel', end, options);
}

function pin(bar: HTMLElement): void {
  const { scrollLeft } = bar;
  if (scrollLeft > 0) {
    bar.style.setProperty(SHIFT, `${scrollLeft}px`);
    bar.classList.add(PINNED);
    bar.scrollLeft = 0;
  }
}

function unpin(bar: HTMLElement): void {
  const shift = parseFloat(bar.style.getPropertyValue(SHIFT));
  if (bar.classList.contains(PINNED)) {
    bar.classList.remove(PINNED);
    bar.style.removeProperty(SHIFT);
    bar.scrollLeft = shift;
  }
}

/** A dropped tab glides to its place, and only then are the tabs put into their order. */
function whenDropped(tabBar: Element | null, then: () => void): void {
  const isDragged = (): boolean => tabBar?.classList.contains(DRAGGING) === true;
  if (tabBar === null || !isDragged()) {
    then();
    return;
  }
  const observer = new MutationObserver(() => {
    if (!isDragged()) {
      observer.disconnect();
      then();
    }
  });
  observer.observe(tabBar, { attributeFilter: ['class'] });
}
