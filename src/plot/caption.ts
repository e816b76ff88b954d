/**
 * What stands around a picture: headline, controls, legend, facts, messages, note.
 *
 * The same elements in Lab's panes, in cells and in pages of a browser tab. How they are laid out
 * where there is little room is the business of the style sheet, `style/plot.css`.
 */

import type { ITag } from '../dashboards/clusters';
import {
  LEGEND_MARKS,
  type Control,
  type ILegendItem,
  type IPlotControl
} from '../protocol/control';
import { h, setText, type ITranslate } from '../text';
import type { Presentation } from './state';

// Keys that mean something to a field or a button are not shortcuts of the plot around it.
const OWN_KEYS = { 'data-lm-suppress-shortcuts': 'true' };

export class Caption {
  constructor(
    private readonly _trans: ITranslate,
    onLive: () => void,
    /** The reader chose a value of a control. */
    private readonly _onSet: (name: string, value: string) => void,
    /** The stretch of time that the reader chose in the picture is wanted in all panes. */
    onApply: () => void = () => undefined
  ) {
    this._pill.addEventListener('click', onLive);
    this._apply.addEventListener('click', onApply);
    this._more.title = this._more.ariaLabel = _trans.__('Controls');
    this._more.addEventListener('click', () => {
      const isOpen = this._bar.toggleAttribute('data-open');
      this._more.setAttribute('aria-expanded', String(isOpen));
    });
    this._bar.addEventListener('contextmenu', event => event.stopPropagation()); // the browser's own
    this._bar.addEventListener('keydown', event => {
      if (event.key === 'Escape') {
        event.stopPropagation();
        this.node.focus();
      }
    });
    this._bar.append(this._controls, this._legend);
    new ResizeObserver(this._markCut).observe(this._legend, { box: 'border-box' });
    new MutationObserver(this._markCut).observe(this._legend, { childList: true });
    this._more.hidden = true;
    this._message.append(this._text, ' ', this._elapsed, this._choices);
    const head = [this._tag, this._pill, this._apply, this._more, this._name, this._title];
    const rows = [h('div', { class: 'jp-DaskDiag-head' }, ...head), this._bar, this._facts];
    this.node.append(...rows, this.stage, this._message, this._note);
  }

  /** The plot with all that is around it. */
  readonly node = h('div', { class: 'jp-DaskDiag-plot', tabindex: '0', role: 'group' });

  /** Where the picture is drawn. */
  readonly stage = h('div', { class: 'jp-DaskDiag-stage' });

  /** What the picture is headed with now. */
  headline = '';

  /** Name the plot in front of its headline, '' where something beside it does, and its cluster. */
  setTitles(name: string, tag: ITag | null): void {
    setText(this._name, name);
    setText(this._tag, (name === '' ? tag?.title : tag?.letter) ?? '');
    Object.assign(this._tag.dataset, { color: tag?.color, letter: tag?.letter });
    this._tag.title = tag?.title ?? '';
  }

  /** Show what the plot says of itself, and its state; `heading` stands for a missing headline. */
  show(control: Control | null, heading: string, shown: Presentation): void {
    this.headline = control?.headline || (this._name.textContent === '' ? heading : '');
    setText(this._title, this.headline.replace(/(\d) /g, '$1\u00a0')); // a number stays with its unit
    this._title.title = this.headline;
    setText(this._text, shown.message);
    setText(this._elapsed, shown.elapsed);
    this._fill(this._choices, shown.choices, ({ label, choose }) => {
      const button = h('button', { type: 'button', title: label }, label);
      button.addEventListener('click', choose);
      return button;
    });
    setText(this._pill, shown.pill);
    this._pill.title = `${shown.pill}\n${this._trans.__('Back to live (L)')}`;
    this._apply.hidden = shown.chosen === '';
    this._apply.title = this._trans.__('Show %1 in all panes of this cluster', shown.chosen);
    setText(this._note, shown.note);
    this._note.title = shown.note;
    this._message.hidden = shown.message === '';
    if (control !== null) {
      const { _trans: trans } = this;
      this._showControls(control.controls);
      this._fill(this._legend, control.legend, item =>
        h('li', {}, legendMark(item), trans.gettext(item.label))
      );
      this._fill(this._facts, control.facts, ([label, value]) =>
        h('div', {}, h('dt', {}, trans.gettext(label)), h('dd', {}, value))
      );
    }
  }

  /** Say how many entries of the legend have no place in its lines, and which. */
  private readonly _markCut = (): void => {
    const { dataset, children } = this._legend;
    const { bottom } = this._legend.getBoundingClientRect();
    const below = (): Element[] =>
      [...children].filter(one => one.getBoundingClientRect().bottom > bottom + 1);
    dataset['more'] = '';
    if (below().length > 0) {
      dataset['more'] = '+'; // which has its room beside the entries
    }
    const cut = below();
    this._legend.title = cut.map(one => one.textContent).join('\n');
    dataset['more'] &&= `+${cut.length}`;
  };

  /** Make the children of a list anew where what it shows has changed; true when it has. */
  private _fill<T>(list: HTMLElement, shown: readonly T[], make: (one: T) => Node): boolean {
    const signature = JSON.stringify(shown);
    const isChanged = this._filled.get(list) !== signature;
    if (isChanged) {
      this._filled.set(list, signature);
      list.replaceChildren(...shown.map(make));
      list.hidden = shown.length === 0;
    }
    return isChanged;
  }

  /** Fields stay the same elements while their plot has the same controls: somebody may be in one. */
  private _showControls(controls: readonly IPlotControl[]): void {
    const list = this._controls;
    const used = [...list.children].findIndex(one => one.contains(document.activeElement));
    const plain = controls.map(one => ({ ...one, value: '' }));
    if (this._fill(list, plain, one => this._field(one))) {
      list.children[used]?.querySelector<HTMLElement>('select, input, button')?.focus();
    }
    this._more.hidden = list.hidden;
    controls.forEach(({ value }, i) => {
      const field = list.children[i]?.querySelector<HTMLSelectElement | HTMLInputElement>(FIELDS);
      if (field) {
        field.value = value;
      }
    });
  }

  private _field({ name, kind, label, options, placeholder }: IPlotControl): HTMLElement {
    const { _trans: trans, _onSet: onSet } = this;
    const shown = trans.gettext(label);
    if (kind === 'button') {
      const button = h('button', { type: 'button' }, shown);
      button.addEventListener('click', () => onSet(name, 'on'));
      return h('span', { title: shown }, button);
    }
    const choices = options.map(([value, text]) => h('option', { value }, trans.gettext(text)));
    const hint = trans.gettext(placeholder || label);
    const field =
      kind === 'select'
        ? h('select', { 'aria-label': shown }, ...choices)
        : h('input', { 'aria-label': shown, type: 'text', placeholder: hint });
    field.addEventListener('change', () => onSet(name, field.value));
    return h('label', {}, shown, field);
  }

  private readonly _tag = h('span', { class: 'jp-DaskDiag-tag' });
  private readonly _pill = h('button', { class: 'jp-DaskDiag-pill', type: 'button', ...OWN_KEYS });
  private readonly _apply = h(
    'button',
    { class: 'jp-DaskDiag-apply', type: 'button', ...OWN_KEYS },
    this._trans.__('Apply to all panes')
  );
  private readonly _more = h(
    'button',
    { class: 'jp-DaskDiag-more', type: 'button', ...OWN_KEYS },
    '⋯'
  );
  private readonly _name = h('span', { class: 'jp-DaskDiag-name' });
  private readonly _title = h('span', { class: 'jp-DaskDiag-title' });
  private readonly _controls = h('div', { class: 'jp-DaskDiag-controls' });
  private readonly _legend = h('ul', { class: 'jp-DaskDiag-legend' });
  private readonly _bar = h('div', { class: 'jp-DaskDiag-bar', ...OWN_KEYS });
  private readonly _facts = h('dl', { class: 'jp-DaskDiag-facts' });
  private readonly _text = h('span', { role: 'status' });
  private readonly _elapsed = h('span', { class: 'jp-DaskDiag-elapsed' });
  private readonly _choices = h('div', { class: 'jp-DaskDiag-choices', ...OWN_KEYS });
  private readonly _message = h('div', { class: 'jp-DaskDiag-message' });
  private readonly _note = h('div', { class: 'jp-DaskDiag-note', role: 'note' });
  private readonly _filled = new WeakMap<HTMLElement, string>();
}

/** What takes a value from the plot: not the field in which somebody types. */
const FIELDS = 'select, input:not(:focus)';

function legendMark({ shape, color, alpha }: ILegendItem): HTMLElement {
  const mark = h('span', { 'aria-hidden': 'true' }, LEGEND_MARKS[shape] ?? LEGEND_MARKS.fill);
  Object.assign(mark.style, { color, opacity: String(alpha) });
  return mark;
}
