// Which of several dashboards a page shows: a number and a colour, in front of its heading and of
// its title. They are those of JupyterLab, which keeps word of them in the browser.

const KEY = 'dask-diag-lab:tags';
const LISTED_KEY = 'dask-diag-lab:listed'; // which dashboards Lab lists; written after their tags
const COLORS = 6;

// What Lab has written: pairs of id and tag. Only a page that came through Jupyter can read it.
function kept() {
  try {
    const tags = JSON.parse(window.localStorage.getItem(KEY));
    return Array.isArray(tags) ? tags.filter(isTag) : [];
  } catch (error) {
    console.debug('The badges of JupyterLab are not known:', error.message);
    return [];
  }
}

function isTag(value) {
  return Array.isArray(value) && Number.isInteger(value[1]) && value[1] >= 0;
}

// Return the tags of those listed by the rule of Lab's (src/model/tags.ts): the one it had, or the
// lowest, that no other wears.
function tagsOf(listed) {
  const tags = new Map(kept().filter(([id]) => listed.includes(id)));
  for (const id of listed) {
    const worn = listed.filter(other => other !== id).map(other => tags.get(other));
    if (!tags.has(id) || worn.includes(tags.get(id))) {
      const lowest = listed.findIndex((_, tag) => !worn.includes(tag));
      tags.set(id, lowest);
    }
  }
  return tags;
}

// Show the badge of a dashboard in an element, none where it is all there is; and return it. Of one
// that is not listed nothing is known: what was shown stays.
export function showTag(element, id, listed) {
  const tag = tagsOf(listed).get(id);
  if (tag !== undefined) {
    element.hidden = listed.length < 2;
    element.textContent = String(tag + 1);
    element.dataset.color = String(tag % COLORS);
  }
  return tag;
}

export class Badge {
  // `onNews`: a dashboard has come or gone in Lab's list.
  constructor(element, onNews) {
    this.element = element;
    this.title = document.title;
    window.addEventListener('storage', event => {
      if (event.key === LISTED_KEY) {
        onNews();
      }
    });
  }

  // Show that of a dashboard among those listed.
  show(id, listed) {
    const tag = showTag(this.element, id, listed);
    if (tag !== undefined) {
      document.title = this.element.hidden ? this.title : `${tag + 1} · ${this.title}`;
    }
  }
}
