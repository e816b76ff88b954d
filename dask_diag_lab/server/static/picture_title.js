// The title of a picture, which stands above it: on its canvas it is cut where that ends, and read by
// nobody who cannot see it. JupyterLab's panes do the same (src/api/surface.ts).

const MAX_DEPTH = 8; // how deep figures lie in a document's layouts

function titlesIn(model, depth) {
  if (typeof model !== 'object' || model === null || depth === 0) {
    return [];
  }
  const { title, children } = model;
  if (typeof title === 'object' && title !== null && 'text' in title && 'setv' in title) {
    return [title];
  }
  return Array.isArray(children) ? children.flatMap(child => titlesIn(child, depth - 1)) : [];
}

// That of a document's only figure; null when there are several or none.
function titleOf(roots) {
  const titles = roots.flatMap(root => titlesIn(root, MAX_DEPTH));
  return titles.length === 1 ? titles[0] : null;
}

// Take the title off a picture and keep it in a line, beside the plot's name where that has one.
export function lift(roots, head) {
  const title = titleOf(roots);
  title?.setv({ visible: false }, { sync: false });
  title?.change.connect(() => say(title, head));
  say(title, head);
}

function say(title, head) {
  const [name, line] = [head.querySelector('.name'), head.querySelector('.title')];
  const text = String(title?.text ?? '').trim();
  if (line.textContent !== text) {
    line.textContent = line.title = text;
  }
  if (name !== null) {
    const isSaid = text.toLowerCase().startsWith(name.textContent.toLowerCase());
    name.hidden = isSaid; // once is enough
  }
  head.hidden = !text && name === null;
}
