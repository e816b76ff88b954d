/** Rows of bars with names and values: the browser side of `BarChart` in views/models.py. */

import { arrange, type IArranged, type IArrangement } from './barrows';
import { model, type ModelFactory, type Untyped } from './bokeh';
import { fitText, hatch, type Context, type TooltipLines } from './canvas';
import { axisEnd, count, percent, ticks, write, writeTick, type Unit } from './units';

const LEAST_ROW = 16;
const MOST_ROW = 44;
/** Of the one bar of everything. */
const MOST_ONLY_ROW = 110;
const BAR_SHARE = 0.86;
const AXIS = 20;
const NOTE = 16;
/** Shares of the width that names and values may take. */
const NAMES_SHARE = 0.3;
const VALUES_SHARE = 0.3;
/** Of the line above a bar: the name has the rest. */
const VALUE_ABOVE_SHARE = 0.8;
const GAP = 6;
/** Names of rows that a tooltip has of many put together. */
const NAMED = 4;

type Members = readonly number[];

interface IColumn {
  readonly name: string;
  readonly label: string;
  readonly unit: Unit;
  readonly share_of: string;
  readonly adds: boolean;
}

/** What the kernel says of the columns: `BarPlot._spec`. */
interface ISpec extends Pick<IArrangement, 'merging' | 'order' | 'merges'> {
  readonly parts: readonly { column: string; color: string; alpha: number; hatch: string }[];
  readonly columns: readonly IColumn[];
  readonly unit: Unit;
  readonly is_split: boolean;
  readonly levels: readonly { color: string; sign: string; hatch: string }[];
  readonly merged_level: 'most' | 'worst';
  readonly value: readonly (IColumn & { sign: string })[];
  readonly keeps: 'value' | 'remark' | 'all';
  readonly limit: string;
  readonly track: string;
  readonly marks: readonly (readonly [string, number])[];
  readonly end: number;
  readonly noun: string;
  readonly nouns: string;
  readonly label: string;
  readonly key: string;
  readonly sort_by: string;
  readonly opens: boolean;
  readonly track_color: string;
}

/** Where the picture has what, in CSS pixels, and which rows are seen. */
interface IGeometry {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly row: number;
  readonly first: number;
  readonly view: readonly Members[];
  readonly labels: readonly string[];
  readonly values: readonly string[];
  readonly end: number;
  readonly perUnit: number;
}

export const barModels: ModelFactory = (_bokeh, CanvasChart) => {
  class BarChartView extends CanvasChart.prototype.default_view {
    spec!: ISpec;
    arranged: IArranged = { rows: [], kind: 'each', isSorted: false };
    geometry: IGeometry | null = null;
    fits = 1;
    /** Height of a line with name and value above each bar; 0 where they stand beside it. */
    above = 0;
    focused = -1;
    end = 0;

    initialize(): void {
      super.initialize();
      this._read_spec();
    }

    connect_signals(): void {
      super.connect_signals();
      this.on_change(this.model.properties.spec, () => this._read_spec());
    }

    render(): void {
      super.render();
      this.canvas.setAttribute('role', 'application'); // it has keys of its own
      this.canvas.addEventListener('keydown', (event: KeyboardEvent) => this._on_key(event));
      this.canvas.addEventListener('blur', () => this._focus(-1));
    }

    _read_spec(): void {
      this.spec = JSON.parse(this.model.spec || '{"label": "name", "parts": []}');
    }

    // --- numbers of rows of the picture

    get n(): number {
      return this.column(this.spec.label).length;
    }

    /** What rows are sorted by: a column, or the sum of the parts. */
    _sizes(): ArrayLike<number> {
      const { sort_by: by, parts } = this.spec;
      const columns = parts.map(part => this.column(part.column));
      return by
        ? this.column(by)
        : Array.from({ length: this.n }, (_, row) => sum(columns.map(column => column[row])));
    }

    /** A number of one row: the mean of what it stands for, or the sum of a rest. */
    _number(name: string, members: Members): number {
      const column: ArrayLike<number> | null = this.model.source.get_column(name);
      const values = members.map(row => column?.[row] ?? NaN).filter(value => !Number.isNaN(value));
      if (values.length === 0) {
        return NaN;
      }
      return sum(values) / (this.arranged.kind === 'rest' ? 1 : values.length);
    }

    _level(members: Members): ISpec['levels'][number] {
      const column: ArrayLike<number> = this.column('level_index');
      const all = members.map(row => column[row] ?? 0);
      const { merged_level: merged, levels } = this.spec;
      return levels[merged === 'worst' ? Math.max(...all) : commonest(all)]!;
    }

    _name(members: Members): string {
      const { label, nouns } = this.spec;
      if (this.arranged.kind === 'host') {
        return this.column('host')[members[0]!];
      }
      if (members.length === 1) {
        return this.column(label)[members[0]!];
      }
      return `${count(members.length)} ${this.arranged.kind === 'rest' ? 'others' : nouns}`;
    }

    _color(members: Members, own: string): string {
      const rows: readonly string[] = this.column('color');
      if (rows.length > 0 && !own) {
        return members.length === 1 ? rows[members[0]!]! : this.model.muted;
      }
      return own || this._level(members).color;
    }

    // --- the picture

    paint(ctx: Context, width: number, height: number): void {
      this.geometry = null;
      if (this.n === 0) {
        this.set_hidden_height(0);
        return;
      }
      ctx.font = this.font(1);
      this.above = this._line_above(ctx, width);
      let bottom = height - AXIS;
      this._arrange(bottom);
      const hasNote = this._note(0) !== '';
      if (hasNote) {
        bottom -= NOTE;
        this._arrange(bottom);
      }
      ctx.textBaseline = 'middle';
      this.geometry = this._lay_out(ctx, width, bottom);
      this._paint_axis(ctx);
      this._paint_rows(ctx, width);
      const note = hasNote ? this._note(this.geometry.first) : '';
      ctx.fillStyle = this.model.muted;
      ctx.textAlign = 'left';
      ctx.fillText(fitText(ctx, note, width - 8), 4, this.geometry.bottom + AXIS + NOTE / 2);
      this.canvas.setAttribute('aria-label', note || `${count(this.n)} ${this.spec.nouns}`);
    }

    /** The height of a line above each bar; 0 where there is none, since all fits beside it. */
    _line_above(ctx: Context, width: number): number {
      const rows = this.spec.keeps === 'all' ? [...Array(this.n).keys()] : [];
      const values = rows.map(row => this._value([row])[0]);
      return widest(ctx, values) > width * VALUES_SHARE ? LEAST_ROW : 0;
    }

    /** Choose the rows for a height. */
    _arrange(height: number): void {
      this.fits = Math.max(Math.floor(height / (LEAST_ROW + this.above)), 1);
      this.arranged = arrange({
        ...this.spec,
        sizes: this._sizes(),
        names: this.column(this.spec.label),
        hosts: this.column('host'),
        fits: this.fits
      });
    }

    /** What a reader has to know of how rows were put together; '' where it is plain to see. */
    _note(first: number): string {
      const { rows, kind, isSorted } = this.arranged;
      const { nouns, columns, sort_by: by } = this.spec;
      const parts: string[] = [];
      if (rows.length > this.fits) {
        const whose = kind === 'host' ? 'hosts' : nouns;
        const range = `${count(first + 1)}–${count(first + this.fits)}`;
        parts.push(`${range} of ${count(rows.length)} ${whose}`);
      }
      if (kind === 'alike') {
        parts.push(`${count(this.n)} ${nouns} in groups of ${count(rows[0]!.length)}`);
      }
      if (kind === 'alike' || kind === 'host') {
        parts.push(`each bar is the mean of its ${nouns}`);
      }
      if (kind === 'rest') {
        parts.push(`${count(rows.at(-1)!.length)} smaller ${nouns} in one bar`);
      }
      if (isSorted) {
        const what = columns.find(column => column.name === by)?.label.toLowerCase();
        parts.push(what ? `highest ${what} first` : 'highest first');
      }
      return parts.join(' · ');
    }

    _lay_out(ctx: Context, width: number, bottom: number): IGeometry {
      const { rows } = this.arranged;
      const { above } = this;
      const shown = Math.min(rows.length, this.fits);
      const most = this.column(this.spec.label)[0] === '' ? MOST_ONLY_ROW : MOST_ROW;
      const row = Math.min(bottom / shown, most);
      this.set_hidden_height((rows.length - shown) * row);
      const first = Math.min(Math.round(this.scroller.scrollTop / row), rows.length - shown);
      const view = rows.slice(first, first + shown);
      // As much as fits.
      const said = view.map(members => this._value(members));
      const values = above
        ? said.map(([full]) => fitText(ctx, full, width * VALUE_ABOVE_SHARE))
        : ([0, 1, 2]
            .map(few => said.map(parts => parts[few]!))
            .find(texts => widest(ctx, texts) <= width * VALUES_SHARE) ?? view.map(() => ''));
      const labels = view.map((one, at) => {
        const free = width - ctx.measureText(values[at]!).width - 3 * GAP;
        // Beside others the end of a name tells it from them.
        return fitText(ctx, this._name(one), above ? free : width * NAMES_SHARE, !above);
      });
      const left = above ? GAP : widest(ctx, labels) + 2 * GAP;
      // Where no values stand beside the bars: room for half of the last tick's label.
      const beside = above ? 0 : widest(ctx, values) + 2 * GAP;
      const right = Math.max(width - Math.max(beside, AXIS), left + 20);
      const end = this._axis_end();
      const perUnit = (right - left) / end;
      // The axis follows the last bar: few bars need not all of the height.
      return { left, right, bottom: shown * row, row, first, view, labels, values, end, perUnit };
    }

    /** What stands beside a bar, in ever fewer words. */
    _value(members: Members): readonly [string, string, string] {
      const { value, keeps } = this.spec;
      const { sign } = this._level(members);
      const numbers = value.filter(({ name }) => {
        const number = this._number(name, members);
        return !Number.isNaN(number) && (value.length === 1 || number !== 0);
      });
      const written = (withShares: boolean): string =>
        numbers
          .map(column => {
            const number = write(column.unit, this._number(column.name, members));
            const share = withShares ? this._share(column, members) : '';
            return `${column.sign} ${number}${share}`.trim();
          })
          .join('  ');
      const remark = members.length === 1 ? this.column('remark')[members[0]!] : '';
      const full = `${sign} ${written(true)}${remark ? ` · ${remark}` : ''}`.trim();
      const less = keeps === 'remark' ? remark : written(false);
      return [full, `${sign} ${less}`.trim(), sign];
    }

    /** A share of something else, " · 42 %"; '' where there is none. */
    _share({ name, share_of: of }: IColumn, members: Members): string {
      const whole =
        of === 'sum' ? sum(Array.from(this.column(name) as number[])) : this._number(of, members);
      return whole > 0 ? ` · ${percent(this._number(name, members) / whole)}` : '';
    }

    _axis_end(): number {
      const { limit, track, end, parts, is_split: isSplit, unit } = this.spec;
      const { rows } = this.arranged;
      const fixed = limit || track;
      const limits = fixed ? rows.map(members => this._number(fixed, members)) : [NaN];
      const lengths = rows.map(members => {
        const values = parts.map(part => this._number(part.column, members) || 0);
        return isSplit ? Math.max(...values) : sum(values);
      });
      const most = Math.max(end, ...lengths, ...limits.map(one => one || 0));
      if (end > 0 || limits.every(one => one > 0)) {
        return most || 1;
      }
      this.end = axisEnd(unit, most, this.end);
      return this.end;
    }

    _paint_axis(ctx: Context): void {
      const { left, right, bottom, end, perUnit } = this.geometry!;
      const { unit } = this.spec;
      ctx.textAlign = 'center';
      let free = -Infinity;
      for (const tick of ticks(unit, end, Math.max(Math.floor((right - left) / 110), 1))) {
        const x = Math.round(left + tick * perUnit);
        ctx.fillStyle = this.model.grid;
        ctx.globalAlpha = 0.6;
        ctx.fillRect(x, 0, 1, bottom + 4);
        ctx.globalAlpha = 1;
        const text = writeTick(unit, tick);
        const half = ctx.measureText(text).width / 2;
        const at = Math.max(x, half + 1);
        if (at - half > free) {
          ctx.fillStyle = this.model.muted;
          ctx.fillText(text, at, bottom + AXIS - 8);
          free = at + half + 8;
        }
      }
    }

    _paint_rows(ctx: Context, width: number): void {
      const { left, right, row, first, view, labels, values, end, perUnit } = this.geometry!;
      const { spec, above } = this;
      const isBeside = spec.merges === 'mean';
      const thick = Math.max((row - above) * BAR_SHARE, 1);
      view.forEach((members, at) => {
        const top = at * row + above + (row - above - thick) / 2;
        const middle = at * row + (above || row) / 2;
        if (isBeside) {
          const limit = spec.limit || spec.track;
          const long = limit ? Math.min(this._number(limit, members), end) * perUnit : right - left;
          ctx.fillStyle = spec.track_color;
          ctx.fillRect(left, top, long, thick);
        }
        const bar = this._paint_bar(ctx, members, top, thick);
        this._paint_marks(ctx, members, at);
        ctx.textAlign = above ? 'left' : 'right';
        ctx.fillStyle = isBeside ? this.model.muted : this.model.foreground;
        ctx.fillText(labels[at]!, above ? left : left - GAP - 2, middle);
        ctx.textAlign = above ? 'right' : 'left';
        ctx.fillStyle = this.model.foreground;
        ctx.fillText(values[at]!, above ? width - GAP : (isBeside ? right : bar) + GAP, middle);
        if (first + at === this.focused) {
          ctx.strokeStyle = this.model.accent;
          ctx.lineWidth = 2;
          ctx.strokeRect(1, at * row + 1, width - 2, row - 2);
        }
      });
    }

    /** Return where the bar ends. */
    _paint_bar(ctx: Context, members: Members, top: number, thick: number): number {
      const { left, end, perUnit } = this.geometry!;
      const { parts, is_split: isSplit } = this.spec;
      const high = isSplit ? thick / parts.length : thick;
      let reached = 0;
      let furthest = left;
      parts.forEach((part, index) => {
        const value = this._number(part.column, members) || 0;
        const from = left + (isSplit ? 0 : Math.min(reached, end) * perUnit);
        reached = isSplit ? value : reached + value;
        const to = left + Math.min(reached, end) * perUnit;
        if (value <= 0) {
          return;
        }
        const box = [
          from,
          top + (isSplit ? index * high : 0),
          Math.max(to - from, 1),
          high
        ] as const;
        ctx.globalAlpha = part.alpha;
        ctx.fillStyle = this._color(members, part.color);
        ctx.fillRect(...box);
        const pattern = part.hatch || this._level(members).hatch;
        if (pattern) {
          ctx.fillStyle = hatch(ctx, pattern, this.model.background);
          ctx.fillRect(...box);
        }
        furthest = Math.max(furthest, to);
      });
      if (this.column('color').length > 0 && furthest > left + 1) {
        // The lightest colours of a palette would be lost on a light canvas without an outline.
        ctx.strokeStyle = this.model.foreground;
        ctx.globalAlpha = 0.35;
        ctx.lineWidth = 1;
        ctx.strokeRect(left + 0.5, top + 0.5, furthest - left - 1, thick - 1);
      }
      ctx.globalAlpha = 1;
      return furthest;
    }

    _paint_marks(ctx: Context, members: Members, at: number): void {
      const { limit, marks } = this.spec;
      const most = this._number(limit, members);
      if (!(most > 0)) {
        return;
      }
      const { left, row, end, perUnit } = this.geometry!;
      const mark = (value: number, width: number, color: string): void => {
        ctx.fillStyle = color;
        const x = Math.round(left + Math.min(value, end) * perUnit);
        ctx.fillRect(x - width / 2, at * row, width, row);
      };
      marks.forEach(([, share]) => mark(most * share, 1, this.model.muted));
      mark(most, 2, this.model.foreground);
    }

    // --- what a reader does

    _members_at(y: number): Members | undefined {
      const { row, view } = this.geometry ?? { row: 1, view: [] };
      return view[Math.floor(y / row)];
    }

    tooltip_at(_x: number, y: number): TooltipLines | null {
      const members = this._members_at(y);
      const isLink = this.spec.opens && members?.length === 1;
      this.canvas.style.cursor = isLink ? 'pointer' : '';
      return members === undefined ? null : this._lines(members);
    }

    _lines(members: Members): TooltipLines {
      const { limit, marks, unit, key, label, merges, parts, columns } = this.spec;
      const most = this._number(limit, members);
      const names: readonly string[] = this.column(members.length > 1 ? label : key);
      const more = members.length > NAMED ? ', …' : '';
      // Of bars with many parts those that are there.
      const few = new Set(parts.length > 4 ? parts.map(part => part.column) : []);
      return [
        this._head(members),
        this._remarks(members),
        ...columns
          .filter(({ name }) => !few.has(name) || this._number(name, members) > 0)
          .map(column => this._line(column, members)),
        most > 0 ? marks.map(([name, at]) => `${name} ${write(unit, most * at)}`).join(', ') : '',
        // Where no rows are one bar its name is enough.
        members.length > 1 || (key !== label && merges !== 'none')
          ? members
              .slice(0, NAMED)
              .map(row => names[row])
              .join(', ') + more
          : ''
      ];
    }

    _head(members: Members): string {
      const { noun, nouns } = this.spec;
      const name = this._name(members);
      if (this.arranged.kind === 'host') {
        return `Host ${name}: ${count(members.length)} ${nouns}`;
      }
      return name || capital(noun);
    }

    /** The remark of one row; of many how often there is which. */
    _remarks(members: Members): string {
      const remarks: readonly string[] = this.column('remark');
      const found = members.map(row => remarks[row] ?? '').filter(Boolean);
      const words = [...new Set(found)].map(remark =>
        members.length > 1 ? `${found.filter(one => one === remark).length} ${remark}` : remark
      );
      return words.length > 0
        ? `${this._level(members).sign} ${capital(words.join(', '))}`.trim()
        : '';
    }

    _line(column: IColumn, members: Members): string {
      const { name, label, unit, adds } = column;
      if (unit === 'text' || unit === 'key') {
        const text: string = members.length === 1 ? this.column(name)[members[0]!] : '';
        return text && `${label} ${text}`.trim();
      }
      const value = this._number(name, members);
      if (name === this.spec.limit && !(value > 0)) {
        return `No ${label.toLowerCase()}`;
      }
      const all: number[] = members.map(row => this.column(name)[row]).filter(Number.isFinite);
      const [low, high] = [Math.min(...all), Math.max(...all)];
      const range = low < high ? `${write(unit, low)} to ${write(unit, high)}` : '';
      if (!adds && range) {
        return `${label} ${range}`;
      }
      const isMean = range && this.arranged.kind !== 'rest';
      const text = `${label} ${write(unit, value)}${this._share(column, members)}`.trim();
      return isMean ? `${text} (${range})` : text;
    }

    clicked(_x: number, y: number): void {
      this._open(this._members_at(y));
    }

    _open(members: Members | undefined): void {
      if (this.spec.opens && members?.length === 1) {
        const key: string = this.column(this.spec.key)[members[0]!];
        const [, before = '0'] = this.model.clicked;
        this.model.setv({ clicked: [key, String(Number(before) + 1)] });
      }
    }

    _on_key(event: KeyboardEvent): void {
      const last = this.arranged.rows.length - 1;
      const moves: Readonly<Record<string, number>> = {
        ArrowDown: this.focused + 1,
        ArrowUp: this.focused - 1,
        PageDown: this.focused + this.fits,
        PageUp: this.focused - this.fits,
        Home: 0,
        End: last
      };
      const to = moves[event.key];
      if (event.ctrlKey || event.altKey || event.metaKey) {
        return;
      }
      if (to !== undefined) {
        this._focus(Math.max(Math.min(to, last), 0));
      } else if (event.key === 'Enter' && this.focused >= 0) {
        this._open(this.arranged.rows[this.focused]);
      } else if (event.key === 'Escape' && this.focused >= 0) {
        this._focus(-1);
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation(); // the page has keys of its own
    }

    /** Mark a row that the keyboard has reached, bring it into view and say what it is. */
    _focus(focused: number): void {
      this.focused = focused;
      const { row, left, first } = this.geometry ?? { row: 1, left: 0, first: 0 };
      if (focused >= 0) {
        const top = Math.min(Math.max(first, focused - this.fits + 1), focused);
        this.scroller.scrollTop = top * row;
        const { x, y } = this.canvas.getBoundingClientRect();
        const lines = this._lines(this.arranged.rows[focused]!);
        this.show_tooltip(lines, x + left, y + (focused - top + 1) * row);
      } else {
        this.hide_tooltip();
      }
      this.schedule_paint();
    }
  }

  return [
    model('BarChart', CanvasChart, BarChartView, ({ List, Str }: Untyped) => ({
      spec: [Str, ''],
      clicked: [List(Str), []]
    }))
  ];
};

function widest(ctx: Context, texts: readonly string[]): number {
  return Math.max(0, ...texts.map(text => ctx.measureText(text).width));
}

function sum(values: readonly (number | undefined)[]): number {
  return values.reduce<number>((whole, value) => whole + (value || 0), 0);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The value that most have; the larger one of two that as many have. */
function commonest(values: readonly number[]): number {
  const counts: number[] = [];
  values.forEach(value => (counts[value] = (counts[value] ?? 0) + 1));
  return counts.reduce((best, n, value) => (n >= (counts[best] ?? 0) ? value : best), 0);
}
