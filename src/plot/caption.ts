/**
 * What stands around a picture: headline, controls, legend, facts, messages, note.
 *
 * The same elements in Lab's panes, in cells and in pages of a browser tab. How they are laid out
 * where there is little room is the business of the style sheet, `style/plot.css`.
 */

import { type IControl, type ILegendItem, type IPlotControl } from './control';
import { h, setText } from './dom';
import type { ITranslate } from './text';
import type { IPresentation } from './state';

/** What a caption shows beside what its plot says of itself. */
export interface ICaptionOptions {
  readonly trans: ITranslate;
  readonly onLive: () => void;
  readonly onSet: (name: string, value: string) => void;
}

export class Caption {
  constructor(private readonly _options: ICaptionOptions) {
    const { trans, onLive } = _options;
    this._pill.addEventListener('click', onLive);
    this._pill.title = trans.__('Back to live (L)');
    this._more.append(trans.__('Controls'));
    this._more.addEventListener('click', () => this._open(this._bar.dataset['open'] !== 'true'));
    this._head.append(this._tag, this._pill, this._more, this._name, this._title);
    this._bar.append(this._controls, this._legend);
    this._message.append(this._text, this._elapsed);
    this.nodes = [this._head, this._bar, this._facts, this.stage, this._message, this._note];
  }

  /** Where the picture is drawn. */
  readonly stage = h('div', { class: 'jp-DaskDiag-stage' });

  /** In the order in which they lie below each other. */
  readonly nodes: readonly HTMLElement[];

  /** What the picture is headed with now. */
  get headline(): string {
    return this._title.textContent ?? '';
  }

  /** Name the plot in front of its headline, where nothing beside it does. */
  setName(name: string): void {
    setText(this._name, name);
  }

  /** Say which of several clusters it is of; null where there is only one. */
  setTag(tag: ITag | null): void {
    showTag(this._tag, tag);
  }

  /** Show what the plot says of itself; `heading` stands for a headline where it has none. */
  setControl(control: IControl | null, heading: string): void {
    const headline = control?.headline || (this._name.textContent === '' ? heading : '');
    setText(this._title, headline);
    this._title.title = headline;
    if (control !== null) {
      this._showControls(control.controls);
      this._showLegend(control.legend);
      this._showFacts(control.facts);
    }
  }

  show(shown: IPresentation): void {
    setText(this._text, shown.message);
    setText(this._elapsed, shown.elapsed);
    setText(this._pill, shown.pill);
    setText(this._note, shown.note);
    this._note.title = shown.note;
    this._message.hidden = shown.message === '';
    this._pill.hidden = shown.pill === '';
    this._note.hidden = shown.note === '';
  }

  private _open(isOpen: boolean): void {
    this._bar.dataset['open'] = String(isOpen);
    this._more.setAttribute('aria-expanded', String(isOpen));
  }

  private _showLegend(items: readonly ILegendItem[]): void {
    const signature = JSON.stringify(items);
    if (signature !== this._legendShown) {
      this._legendShown = signature;
      const { trans } = this._options;
      const labels = items.map(item => trans.__(item.label));
      this._legend.title = labels.join(' · ');
      this._legend.replaceChildren(
        ...items.map((item, i) => h('li', {}, swatch(item), labels[i] ?? ''))
      );
    }
    this._legend.hidden = items.length === 0;
    this._bar.hidden = items.length === 0 && this._controls.childElementCount === 0;
  }

  private _showFacts(facts: IControl['facts']): void {
    const signature = JSON.stringify(facts);
    if (signature !== this._factsShown) {
      this._factsShown = signature;
      const { trans } = this._options;
      this._facts.replaceChildren(
        ...facts.map(([label, value]) =>
          h('div', {}, h('dt', {}, trans.__(label)), h('dd', {}, value))
        )
      );
    }
    this._facts.hidden = facts.length === 0;
  }

  /** Fields stay the same elements while their plot has the same controls: somebody may be in one. */
  private _showControls(controls: readonly IPlotControl[]): void {
    const signature = JSON.stringify(controls.map(one => ({ ...one, value: '' })));
    if (signature !== this._controlsShown) {
      this._controlsShown = signature;
      const focused = this._fields.findIndex(field => field.node.contains(document.activeElement));
      this._fields = controls.map(one => this._field(one));
      this._controls.replaceChildren(...this._fields.map(field => field.node));
      const again = this._fields[focused]?.node;
      (again?.matches('button') ? again : again?.querySelector<HTMLElement>('*'))?.focus();
    }
    controls.forEach(({ value }, i) => this._fields[i]?.set(value));
    this._more.hidden = controls.length === 0;
  }

  private _field(control: IPlotControl): IField {
    const { trans, onSet } = this._options;
    const set = (value: string): void => onSet(control.name, value);
    const label = trans.__(control.label);
    switch (control.kind) {
      case 'select':
        return selectField(label, control, set, trans);
      case 'choice':
        return choiceField(label, control, set, trans);
      case 'text':
        return textField(label, control, set, trans);
      case 'toggle':
      case 'button':
        return buttonField(label, control, set);
    }
  }

  private readonly _head = h('div', { class: 'jp-DaskDiag-head' });
  private readonly _tag = h('span', { class: 'jp-DaskDiag-tag' });
  // Keys that mean something to a field or a button are not shortcuts of the plot around it.
  private readonly _pill = h('button', {
    class: 'jp-DaskDiag-pill',
    type: 'button',
    'data-lm-suppress-shortcuts': 'true'
  });
  private readonly _more = h('button', {
    class: 'jp-DaskDiag-more',
    type: 'button',
    'aria-expanded': 'false',
    'data-lm-suppress-shortcuts': 'true',
    hidden: ''
  });
  private readonly _name = h('span', { class: 'jp-DaskDiag-name' });
  private readonly _title = h('span', { class: 'jp-DaskDiag-title' });
  private readonly _bar = h('div', {
    class: 'jp-DaskDiag-bar',
    'data-lm-suppress-shortcuts': 'true',
    hidden: ''
  });
  private readonly _controls = h('div', { class: 'jp-DaskDiag-controls' });
  private readonly _legend = h('ul', { class: 'jp-DaskDiag-legend', hidden: '' });
  private readonly _facts = h('dl', { class: 'jp-DaskDiag-facts', hidden: '' });
  private readonly _message = h('div', { class: 'jp-DaskDiag-message', hidden: '' });
  private readonly _text = h('span', { role: 'status' });
  private readonly _elapsed = h('span', { class: 'jp-DaskDiag-elapsed' });
  private readonly _note = h('div', { class: 'jp-DaskDiag-note', role: 'note', hidden: '' });
  private _fields: readonly IField[] = [];
  private _controlsShown = '';
  private _legendShown = '';
  private _factsShown = '';
}

/** The mark by which clusters are told apart, and whose it is. */
export interface ITag {
  readonly letter: string;
  readonly color: number;
  readonly title: string;
}

/** Show a cluster's tag in an element, or hide it. */
export function showTag(element: HTMLElement, tag: ITag | null): void {
  element.hidden = tag === null;
  if (tag !== null) {
    setText(element, tag.letter);
    element.dataset['color'] = String(tag.color);
    element.title = tag.title;
  }
}

/** An element in the row of controls, and how it is given a value that the plot has now. */
interface IField {
  readonly node: HTMLElement;
  set(value: string): void;
}

type Setter = (value: string) => void;

function selectField(
  label: string,
  control: IPlotControl,
  onSet: Setter,
  trans: ITranslate
): IField {
  const options = control.options.map(([value, text]) => h('option', { value }, trans.__(text)));
  const select = h('select', { 'aria-label': label }, ...options);
  select.addEventListener('change', () => onSet(select.value));
  return {
    node: h('label', {}, h('span', {}, label), select),
    set: value => (select.value = value)
  };
}

function choiceField(
  label: string,
  control: IPlotControl,
  onSet: Setter,
  trans: ITranslate
): IField {
  const buttons = control.options.map(([value, text]) => {
    const button = h('button', { type: 'button', value }, trans.__(text));
    button.addEventListener('click', () => onSet(value));
    return button;
  });
  return {
    node: h('span', { role: 'group', 'aria-label': label, title: label }, ...buttons),
    set: value =>
      buttons.forEach(one => one.setAttribute('aria-pressed', String(one.value === value)))
  };
}

let lists = 0;

function textField(label: string, control: IPlotControl, onSet: Setter, trans: ITranslate): IField {
  lists += 1;
  const id = `dask-diag-lab-completions-${lists}`;
  const input = h('input', {
    type: 'text',
    spellcheck: 'false',
    'aria-label': label,
    placeholder: trans.__(control.placeholder || control.label),
    list: id
  });
  const options = control.options.map(([value, text]) => h('option', { value, label: text }));
  input.addEventListener('change', () => onSet(input.value));
  return {
    node: h('label', {}, h('span', {}, label), input, h('datalist', { id }, ...options)),
    set: value => {
      if (document.activeElement !== input) {
        input.value = value;
      }
    }
  };
}

function buttonField(label: string, control: IPlotControl, onSet: Setter): IField {
  const button = h('button', { type: 'button' }, label);
  const isToggle = control.kind === 'toggle';
  button.addEventListener('click', () =>
    onSet(isToggle && button.getAttribute('aria-pressed') === 'true' ? 'off' : 'on')
  );
  return {
    node: button,
    set: value => {
      if (isToggle) {
        button.setAttribute('aria-pressed', String(value === 'on'));
      }
    }
  };
}

function swatch({ shape, color, alpha }: ILegendItem): HTMLElement {
  const mark = h('span', {
    class: 'jp-DaskDiag-swatch',
    'data-shape': shape,
    'aria-hidden': 'true'
  });
  mark.style.setProperty('--jp-DaskDiag-color', color);
  mark.style.opacity = String(alpha);
  return mark;
}
