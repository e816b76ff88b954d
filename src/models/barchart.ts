/** Rows of bars with names and values: the browser side of `BarChart` in views/models.py. */

import { arrange, withoutCommonStart, type IArranged, type Merging, type Order } from './barrows';
import { modelsOf, type IBokehLibrary, type IModelClass, type Untyped } from './bokeh';
import { canvasChartView, fitText, hatch, type TooltipLines } from './canvas';
import { count, percent } from './format';
import { axisEnd, ticks, write, writeTick, type Unit } from './ticks';

const model = modelsOf('dask_diag_lab.views.models');

const LEAST_ROW = 16;
const MOST_ROW = 44;
/** Of the one bar of everything. */
const MOST_ONLY_ROW = 110;
const BAR_SHARE = 0.86;
const AXIS = 20;
const NOTE = 16;
/** Narrower or lower pictures are bars alone. */
const LEAST_NAMED_WIDTH = 140;
const LEAST_AXIS_HEIGHT = 74;
/** Shares of the width that names and values may take. */
const NAMES_SHARE = 0.3;
const VALUES_SHARE = 0.3;
const GAP = 6;
/** Names of rows that a tooltip has of many put together. */
const NAMED = 4;

interface IColumn {
  readonly name: string;
  readonly label: string;
  readonly unit: Unit;
  readonly share_of: string;
  readonly adds: boolean;
}

/** What the kernel says of the columns: `BarPlot._spec`. */
interface ISpec {
  readonly parts: readonly { column: string; alpha: number; hatch: string }[];
  readonly columns: readonly IColumn[];
  readonly unit: Unit;
  readonly is_split: boolean;
  readonly signs: readonly string[];
  readonly merged_level: 'most' | 'worst';
  readonly value: readonly IColumn[];
  readonly value_signs: readonly string[];
  readonly limit: string;
  readonly track: string;
  readonly marks: readonly (readonly [string, number])[];
  readonly end: number;
  readonly noun: string;
  readonly nouns: string;
  readonly label: string;
  readonly key: string;
  readonly sort_by: string;
  readonly sorted_by: string;
  readonly merges: 'mean' | 'sum' | 'none';
  readonly opens: boolean;
}

/** Where the picture has what, in CSS pixels. */
interface IGeometry {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly row: number;
  readonly first: number;
  readonly shown: number;
  readonly scale: (value: number) => number;
}

export function barModels(bokeh: IBokehLibrary): readonly IModelClass[] {
  const { LayoutDOM } = bokeh.require('models/layouts/layout_dom');
  const CanvasChartView = canvasChartView(bokeh);

  class BarChartView extends CanvasChartView {
    spec!: ISpec;
    arranged: IArranged = { rows: [], kind: 'each', isSorted: false };
    geometry: IGeometry | null = null;
    first = 0;
    focused = -1;
    end = 0;

    initialize(): void {
      super.initialize();
      this._read_spec();
    }

    connect_signals(): void {
      super.connect_signals();
      const { spec, home } = this.model.properties;
      this.on_change(spec, () => this._read_spec());
      this.on_change(home, () => this._scroll_to(0));
    }

    render(): void {
      super.render();
      this.canvas.tabIndex = 0;
      this.canvas.setAttribute('role', 'img');
      this.canvas.style.outline = 'none';
      this.tip.setAttribute('role', 'status');
      this.canvas.addEventListener('keydown', (event: KeyboardEvent) => this._on_key(event));
      this.canvas.addEventListener('blur', () => this._focus(-1));
      this.canvas.addEventListener('wheel', (event: WheelEvent) => this._on_wheel(event), {
        passive: false
      });
    }

    _read_spec(): void {
      this.spec = JSON.parse(this.model.spec || '{"label": "name", "parts": []}');
      this.end = 0;
    }

    // --- numbers of rows of the picture

    get n(): number {
      return this.column(this.spec.label).length;
    }

    /** Whether there is one bar, of everything: it has no name. */
    get _is_nameless(): boolean {
      return this.n === 1 && !this.column(this.spec.label)[0];
    }

    /** What rows are sorted by: a column, or the sum of the parts. */
    _sizes(): ArrayLike<number> {
      const { sort_by: by, parts } = this.spec;
      const columns: ArrayLike<number>[] = (by ? [by] : parts.map(part => part.column)).map(name =>
        this.column(name)
      );
      const [first] = columns;
      return columns.length === 1 && first !== undefined
        ? first
        : Array.from({ length: this.n }, (_, row) => sum(columns.map(column => column[row])));
    }

    /** A number of one row: the mean of what it stands for, or the sum of a rest. */
    _number(name: string, members: readonly number[]): number {
      const column: ArrayLike<number> = this.column(name);
      if (members.length === 1) {
        return column[members[0]!] ?? NaN;
      }
      const values = members.map(row => column[row] ?? NaN).filter(value => !Number.isNaN(value));
      const whole = sum(values);
      return values.length === 0 ? NaN : this._is_sum(members) ? whole : whole / values.length;
    }

    _is_sum(members: readonly number[]): boolean {
      return this.spec.merges === 'sum' && members.length > 1;
    }

    _level(members: readonly number[]): number {
      const level: ArrayLike<number> = this.column('level_index');
      const levels = members.map(row => level[row] ?? 0);
      return this.spec.merged_level === 'worst' ? Math.max(...levels) : commonest(levels);
    }

    _name(members: readonly number[]): string {
      const [only = 0] = members;
      if (members.length === 1) {
        const name: string = this.column(this.spec.label)[only];
        return this.n === 1 ? name : legible(name);
      }
      if (this.arranged.kind === 'host') {
        return this.column('host')[only];
      }
      const { nouns } = this.spec;
      return `${count(members.length)} ${this.arranged.kind === 'rest' ? 'others' : nouns}`;
    }

    _color(members: readonly number[], part: number): string {
      const own: string = this.model.part_colors[part] ?? '';
      const rows: readonly string[] = this.column('color');
      if (rows.length > 0 && own === '') {
        return members.length === 1 ? rows[members[0]!]! : this.model.muted;
      }
      return own || (this.model.level_colors[this._level(members)] ?? this.model.accent);
    }

    // --- the picture

    paint(ctx: CanvasRenderingContext2D, width: number, height: number): void {
      ctx.fillStyle = this.model.background;
      ctx.fillRect(0, 0, width, height);
      this.geometry = null;
      if (this.n === 0) {
        return;
      }
      ctx.textBaseline = 'middle';
      const axis = height >= LEAST_AXIS_HEIGHT ? AXIS : 0;
      const note = this._arrange(height - axis, axis > 0);
      const bottom = height - axis - (note ? NOTE : 0);
      this._lay_out(ctx, width, bottom, axis);
      this._paint_axis(ctx, axis);
      this._paint_rows(ctx, width);
      this._paint_scrollbar(ctx, width, bottom);
      if (note) {
        ctx.font = this.font(1);
        ctx.fillStyle = this.model.muted;
        ctx.textAlign = 'left';
        ctx.fillText(fitText(ctx, note, width - 8), 4, height - NOTE / 2);
      }
      this.canvas?.setAttribute('aria-label', note || `${count(this.n)} ${this.spec.nouns}`);
    }

    /** Choose the rows for a height; return what is said of them, '' for nothing. */
    _arrange(height: number, hasNote: boolean): string {
      const { rows: merging, order } = this.model;
      const given = {
        sizes: this._sizes(),
        names: this.column(this.spec.label) as string[],
        hosts: this.column('host') as string[],
        merging: merging as Merging,
        order: order as Order,
        merges: this.spec.merges
      };
      const fit = (room: number): number => Math.max(Math.floor(room / LEAST_ROW), 1);
      this.fits = fit(height);
      this.arranged = arrange({ ...given, fits: this.fits });
      if (!hasNote || this._note() === '') {
        this._keep_in_view();
        return '';
      }
      this.fits = fit(height - NOTE);
      this.arranged = arrange({ ...given, fits: this.fits });
      this._keep_in_view();
      return this._note();
    }

    _keep_in_view(): void {
      this.first = Math.max(Math.min(this.first, this.arranged.rows.length - this.fits), 0);
    }

    /** What a reader has to know of how rows were put together; '' where it is plain to see. */
    _note(): string {
      const { rows, kind, isSorted } = this.arranged;
      const { noun, nouns, sorted_by: by } = this.spec;
      const parts: string[] = [];
      if (rows.length > this.fits) {
        const last = Math.min(this.first + this.fits, rows.length);
        const whose = kind === 'host' ? 'hosts' : nouns;
        parts.push(`${count(this.first + 1)}–${count(last)} of ${count(rows.length)} ${whose}`);
      }
      if (kind === 'alike') {
        parts.push(`${count(this.n)} ${nouns} in groups of ${count(rows[0]!.length)}`);
      }
      if (kind === 'alike' || kind === 'host') {
        parts.push(`each bar is the mean of its ${nouns}`);
      }
      if (kind === 'rest') {
        const smaller = rows.at(-1)!.length;
        parts.push(`${count(smaller)} smaller ${smaller === 1 ? noun : nouns} in one bar`);
      }
      if (isSorted) {
        parts.push(`highest ${by} first`.replace('  ', ' '));
      }
      return parts.join(' · ');
    }

    _lay_out(ctx: CanvasRenderingContext2D, width: number, bottom: number, axis: number): void {
      const { rows } = this.arranged;
      const shown = Math.min(rows.length, this.fits);
      const most = this._is_nameless ? MOST_ONLY_ROW : MOST_ROW;
      const row = Math.min(bottom / shown, most);
      const view = rows.slice(this.first, this.first + shown);
      const names = this._choose_names(ctx, width, view, row);
      const left = names > 0 ? names + 2 * GAP : 4;
      const values = this._choose_values(ctx, width - left, view, row);
      const bar = rows.length > shown ? 8 : 0;
      // Half of the last tick's label stands out where nothing else does.
      const right = Math.max(
        width - Math.max(values + (values ? 2 * GAP : 0), axis) - bar,
        left + 20
      );
      const end = this._axis_end();
      const scale = (value: number): number =>
        left + (Math.max(Math.min(value / end, 1), 0) || 0) * (right - left);
      this.geometry = { left, right, bottom, row, first: this.first, shown, scale };
    }

    /** Shorten names to what there is room for; return their width. */
    _choose_names(
      ctx: CanvasRenderingContext2D,
      width: number,
      view: IArranged['rows'],
      row: number
    ): number {
      this.labels = [];
      if (width < LEAST_NAMED_WIDTH || this._is_nameless || row < 11) {
        return 0;
      }
      ctx.font = this.font(1);
      const room = Math.max(width * NAMES_SHARE, 40);
      const measured = (names: readonly string[]): number =>
        Math.max(...names.map(name => ctx.measureText(name).width));
      let names: readonly string[] = view.map(members => this._name(members));
      if (measured(names) > room && this.arranged.kind === 'each') {
        // Of all and not of those in view, so that a name stays while the picture is scrolled.
        const short = withoutCommonStart(this.column(this.spec.label));
        names = view.map(([only]) => legible(short[only!]!));
      }
      this.labels = names.map(name => fitText(ctx, name, room, true));
      return measured(this.labels);
    }

    /** Write the values as fully as there is room for; return their width. */
    _choose_values(
      ctx: CanvasRenderingContext2D,
      width: number,
      view: IArranged['rows'],
      row: number
    ): number {
      this.values = view.map(() => '');
      if (row < 11) {
        return 0;
      }
      ctx.font = this.font(1);
      const said = view.map(members => this._value(members));
      for (const few of [0, 1, 2]) {
        const texts = said.map(parts => parts[few]!);
        const longest = Math.max(...texts.map(text => ctx.measureText(text).width));
        if (longest <= width * VALUES_SHARE) {
          this.values = texts;
          return longest;
        }
      }
      return 0;
    }

    /** What stands beside a bar, in ever fewer words. */
    _value(members: readonly number[]): readonly [string, string, string] {
      const { value, value_signs: signs, signs: levels } = this.spec;
      const sign = levels[this._level(members)] ?? '';
      const numbers = value
        .map((column, index): [IColumn, string, number] => [
          column,
          signs[index] ?? '',
          this._number(column.name, members)
        ])
        .filter(([, , number]) => !Number.isNaN(number) && (value.length === 1 || number !== 0));
      const written = (withShares: boolean): string =>
        numbers
          .map(([column, before, number]) =>
            [before, write(column.unit, number) + (withShares ? this._share(column, members) : '')]
              .join(' ')
              .trim()
          )
          .join('  ');
      const remark = members.length === 1 ? (this.column('remark')[members[0]!] ?? '') : '';
      const full = `${sign} ${written(true)}${remark ? ` · ${remark}` : ''}`.trim();
      return [full, `${sign} ${written(false)}`.trim(), sign];
    }

    /** A share of something else, " · 42 %"; '' where none is told. */
    _share({ name, share_of: of }: IColumn, members: readonly number[]): string {
      if (of === '') {
        return '';
      }
      const whole =
        of === 'sum' ? sum(Array.from(this.column(name) as number[])) : this._number(of, members);
      return whole > 0 ? ` · ${percent(this._number(name, members) / whole)}` : '';
    }

    _axis_end(): number {
      const { limit, track, end, parts, is_split: isSplit, unit } = this.spec;
      const columns = parts.map(part => this.column(part.column) as ArrayLike<number>);
      let most = 0;
      const fixed = limit || track;
      const limits: ArrayLike<number> = fixed ? this.column(fixed) : [];
      let isLimited = fixed !== '';
      for (let row = 0; row < this.n; row++) {
        const lengths = columns.map(column => column[row] || 0);
        most = Math.max(most, isSplit ? Math.max(...lengths) : sum(lengths));
        isLimited = isLimited && limits[row]! > 0;
        most = Math.max(most, limits[row] || 0);
      }
      if (this.arranged.kind === 'rest') {
        const rest = this.arranged.rows.at(-1)!;
        most = Math.max(most, sum(parts.map(part => this._number(part.column, rest) || 0)));
      }
      if (end > 0 || isLimited) {
        return Math.max(end, most) || 1;
      }
      this.end = axisEnd(unit, most, this.end);
      return this.end;
    }

    _paint_axis(ctx: CanvasRenderingContext2D, axis: number): void {
      const { left, right, bottom, scale } = this.geometry!;
      if (axis === 0) {
        return;
      }
      const { unit } = this.spec;
      const end = this._axis_end();
      ctx.font = this.font(1);
      ctx.textAlign = 'center';
      let free = -Infinity;
      for (const tick of ticks(unit, end, Math.max(Math.floor((right - left) / 110), 1))) {
        const x = Math.round(scale(tick)) + 0.5;
        ctx.fillStyle = this.model.grid;
        ctx.globalAlpha = 0.6;
        ctx.fillRect(x - 0.5, 0, 1, bottom + 4);
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

    _paint_rows(ctx: CanvasRenderingContext2D, width: number): void {
      const { left, right, row, first, shown, scale } = this.geometry!;
      const { spec } = this;
      const isBeside = spec.merges === 'mean';
      for (let at = 0; at < shown; at++) {
        const members = this.arranged.rows[first + at]!;
        const thick = Math.max(row * BAR_SHARE, 1);
        const top = at * row + (row - thick) / 2;
        if (isBeside) {
          const limit = spec.limit || spec.track;
          const reach = limit ? this._number(limit, members) : Infinity;
          ctx.fillStyle = this.model.track;
          ctx.fillRect(left, top, scale(reach) - left, thick);
        }
        const bar = this._paint_bar(ctx, members, top, thick);
        this._paint_marks(ctx, members, at);
        ctx.font = this.font(1);
        ctx.textAlign = 'right';
        ctx.fillStyle = isBeside ? this.model.muted : this.model.foreground;
        ctx.fillText(this.labels[at] ?? '', left - GAP - 2, (at + 0.5) * row);
        ctx.textAlign = 'left';
        ctx.fillStyle = this.model.foreground;
        ctx.fillText(this.values[at], (isBeside ? right : bar) + GAP, (at + 0.5) * row);
        if (first + at === this.focused) {
          ctx.strokeStyle = this.model.accent;
          ctx.lineWidth = 2;
          ctx.strokeRect(1, at * row + 1, width - 2, row - 2);
        }
      }
    }

    /** Return where the bar ends. */
    _paint_bar(
      ctx: CanvasRenderingContext2D,
      members: readonly number[],
      top: number,
      thick: number
    ): number {
      const { left, scale } = this.geometry!;
      const { parts, is_split: isSplit } = this.spec;
      const high = isSplit ? thick / parts.length : thick;
      let reached = 0;
      let furthest = left;
      parts.forEach((part, index) => {
        const value = this._number(part.column, members) || 0;
        const from = scale(isSplit ? 0 : reached);
        reached = isSplit ? value : reached + value;
        const to = scale(reached);
        const y = top + (isSplit ? index * high : 0);
        if (value <= 0) {
          return;
        }
        ctx.globalAlpha = part.alpha;
        ctx.fillStyle = this._color(members, index);
        ctx.fillRect(from, y, Math.max(to - from, 1), high);
        if (part.hatch) {
          hatch(ctx, part.hatch, this.model.background, from, y, to - from, high);
        }
        ctx.globalAlpha = 1;
        furthest = Math.max(furthest, to);
      });
      if (this.column('color').length > 0 && furthest > left + 1) {
        // The lightest colours of a palette would be lost on a light canvas without an outline.
        ctx.strokeStyle = this.model.foreground;
        ctx.globalAlpha = 0.35;
        ctx.lineWidth = 1;
        ctx.strokeRect(left + 0.5, top + 0.5, furthest - left - 1, thick - 1);
        ctx.globalAlpha = 1;
      }
      return furthest;
    }

    _paint_marks(ctx: CanvasRenderingContext2D, members: readonly number[], at: number): void {
      const { limit, marks } = this.spec;
      const most = limit ? this._number(limit, members) : 0;
      if (!(most > 0)) {
        return;
      }
      const { row, scale } = this.geometry!;
      ctx.lineWidth = 1;
      ctx.strokeStyle = this.model.muted;
      ctx.setLineDash([2, 2]);
      for (const [, share] of marks) {
        line(ctx, scale(most * share), at * row, row);
      }
      ctx.setLineDash([]);
      ctx.lineWidth = 2;
      ctx.strokeStyle = this.model.foreground;
      line(ctx, scale(most), at * row, row);
    }

    _paint_scrollbar(ctx: CanvasRenderingContext2D, width: number, bottom: number): void {
      const { rows } = this.arranged;
      if (rows.length <= this.fits) {
        return;
      }
      const long = Math.max((this.fits / rows.length) * bottom, 16);
      const at = (this.first / (rows.length - this.fits)) * (bottom - long);
      ctx.fillStyle = this.model.muted;
      ctx.globalAlpha = 0.5;
      ctx.fillRect(width - 5, at, 4, long);
      ctx.globalAlpha = 1;
    }

    // --- what a reader does

    _row_at(y: number): number {
      const { row, first, shown } = this.geometry ?? { row: 1, first: 0, shown: 0 };
      const at = Math.floor(y / row);
      return at >= 0 && at < shown ? first + at : -1;
    }

    tooltip_at(x: number, y: number): TooltipLines | null {
      const row = this._row_at(y);
      this.canvas.style.cursor = row >= 0 && this._can_open(row) ? 'pointer' : '';
      return row < 0 ? null : this._lines(row, this._part_at(x, y, row));
    }

    /** The part under the pointer, where bars have several: it is told first. */
    _part_at(x: number, y: number, row: number): string {
      const { parts, is_split: isSplit } = this.spec;
      const { first, row: high, scale } = this.geometry!;
      if (isSplit) {
        const within = (y - (row - first) * high) / high;
        return parts[Math.floor(within * parts.length)]?.column ?? '';
      }
      let reached = 0;
      for (const { column } of parts) {
        reached += this._number(column, this.arranged.rows[row]!) || 0;
        if (x < scale(reached)) {
          return column;
        }
      }
      return '';
    }

    _lines(row: number, pointed: string): TooltipLines {
      const { spec } = this;
      const members = this.arranged.rows[row]!;
      const few = spec.parts.length > 4 ? new Set(spec.parts.map(part => part.column)) : new Set();
      const columns = spec.columns
        .filter(({ name }) => !few.has(name) || this._number(name, members) > 0)
        .map(column => {
          const text = this._line(column, members);
          const isPointed = column.name === pointed && spec.parts.length > 1;
          return isPointed && text ? `▸ ${text}` : text;
        });
      const most = spec.limit ? this._number(spec.limit, members) : 0;
      const marks = most > 0 ? spec.marks : [];
      return [
        this._head(row, members),
        this._remarks(members),
        ...columns,
        marks.map(([name, share]) => `${name} ${write(spec.unit, most * share)}`).join(', '),
        members.length > 1 ? this._names(members) : this._key(members)
      ];
    }

    _head(row: number, members: readonly number[]): string {
      const { noun, nouns } = this.spec;
      const name = this._name(members);
      if (members.length === 1) {
        return name || `${noun[0]!.toUpperCase()}${noun.slice(1)}`;
      }
      if (this.arranged.kind === 'host') {
        return `Host ${name}: ${count(members.length)} ${nouns}`;
      }
      if (this.arranged.kind === 'rest') {
        return `${count(members.length)} other ${nouns}, together`;
      }
      const before = sum(this.arranged.rows.slice(0, row).map(one => one.length));
      const range = `${count(before + 1)}–${count(before + members.length)}`;
      return `${nouns[0]!.toUpperCase()}${nouns.slice(1)} ${range} of ${count(this.n)}`;
    }

    /** The remark of one row; of many how often there is which. */
    _remarks(members: readonly number[]): string {
      const remarks: readonly string[] = this.column('remark');
      const found = new Map<string, number>();
      for (const remark of members.map(row => remarks[row] ?? '').filter(Boolean)) {
        found.set(remark, (found.get(remark) ?? 0) + 1);
      }
      const sign = this.spec.signs[this._level(members)] ?? '';
      const words = [...found].map(([remark, n]) =>
        members.length > 1 ? `${n} ${remark}` : remark
      );
      const text = words.join(', ');
      return text && `${sign} ${text[0]!.toUpperCase()}${text.slice(1)}`.trim();
    }

    _line(column: IColumn, members: readonly number[]): string {
      const { name, label, unit } = column;
      if (unit === 'text' || unit === 'key') {
        const text: string = members.length === 1 ? this.column(name)[members[0]!] : '';
        return text ? `${label} ${text}`.trim() : '';
      }
      const value = this._number(name, members);
      if (name === this.spec.limit && !(value > 0)) {
        return `No ${label.toLowerCase()}`;
      }
      const told = `${label} ${write(unit, value)}${this._share(column, members)}`.trim();
      if (members.length === 1 || (this._is_sum(members) && column.adds) || Number.isNaN(value)) {
        return told;
      }
      const all: number[] = members.map(row => this.column(name)[row]).filter(Number.isFinite);
      const [low, high] = [Math.min(...all), Math.max(...all)];
      if (!column.adds) {
        return `${label} ${write(unit, low)}${low < high ? ` to ${write(unit, high)}` : ''}`;
      }
      return low < high ? `${told} (${write(unit, low)} to ${write(unit, high)})` : told;
    }

    _names(members: readonly number[]): string {
      const names = members.slice(0, NAMED).map(row => this.column(this.spec.label)[row]);
      return names.join(', ') + (members.length > NAMED ? `, … (${count(members.length)})` : '');
    }

    _key([row]: readonly number[]): string {
      const { key, label } = this.spec;
      return key === label ? '' : this.column(key)[row!];
    }

    _can_open(row: number): boolean {
      return this.spec.opens && this.arranged.rows[row]?.length === 1;
    }

    clicked(_x: number, y: number): void {
      this._open(this._row_at(y));
    }

    _open(row: number): void {
      if (row >= 0 && this._can_open(row)) {
        const key: string = this.column(this.spec.key)[this.arranged.rows[row]![0]!];
        const [, before = '0'] = this.model.clicked;
        this.model.setv({ clicked: [key, String(Number(before) + 1)] });
      }
    }

    _on_wheel(event: WheelEvent): void {
      const before = this.first;
      const rows = event.deltaMode === 0 ? event.deltaY / (this.geometry?.row ?? 20) : event.deltaY;
      this._scroll_to(before + Math.sign(rows) * Math.max(Math.round(Math.abs(rows)), 1));
      if (this.first !== before) {
        event.preventDefault();
      }
    }

    _scroll_to(first: number): void {
      this.first = Math.max(Math.min(first, this.arranged.rows.length - this.fits), 0);
      this.hide_tooltip();
      this.schedule_paint();
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
        this._open(this.focused);
      } else if (event.key === 'Escape' && this.focused >= 0) {
        this._focus(-1);
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation(); // the page has keys of its own
    }

    /** Mark a row that the keyboard has reached, bring it into view and say what it is. */
    _focus(row: number): void {
      this.focused = row;
      this.hide_tooltip();
      if (row >= 0) {
        const first = Math.min(Math.max(this.first, row - this.fits + 1), row);
        this.first = first;
        this.paint_now();
        const { left, top } = this.canvas.getBoundingClientRect();
        const { row: high, left: names } = this.geometry ?? { row: 0, left: 0 };
        this.show_tooltip(this._lines(row, ''), left + names, top + (row - first + 1) * high);
      } else {
        this.schedule_paint();
      }
    }
  }
  class BarChart extends LayoutDOM {}

  return [
    model('BarChart', BarChart, BarChartView, ({ AnyRef, Int, List, Str }: Untyped) => ({
      source: [AnyRef()],
      spec: [Str, ''],
      rows: [Str, 'auto'],
      order: [Str, 'own'],
      home: [Int, 0],
      clicked: [List(Str), []],
      part_colors: [List(Str), []],
      level_colors: [List(Str), []],
      track: [Str, '#eeeeee'],
      grid: [Str, '#e0e0e0'],
      accent: [Str, '#1976d2'],
      background: [Str, '#ffffff'],
      foreground: [Str, '#212121'],
      muted: [Str, '#616161'],
      font: [Str, 'sans-serif'],
      font_size: [Str, '12px']
    }))
  ];
}

/** A name as a line of text: blank ones and control characters are told from nothing. */
function legible(name = ''): string {
  // eslint-disable-next-line no-control-regex -- they are what is looked for
  const text = name.replace(/[\u0000-\u001f]/g, c => String.fromCharCode(0x2400 + c.charCodeAt(0)));
  return text.trim() === '' ? '(blank)' : text;
}

function sum(values: readonly (number | undefined)[]): number {
  return values.reduce<number>((whole, value) => whole + (value || 0), 0);
}

/** The value that most have; the larger one of two that as many have. */
function commonest(values: readonly number[]): number {
  const counts: number[] = [];
  values.forEach(value => (counts[value] = (counts[value] ?? 0) + 1));
  return counts.reduce((best, n, value) => (n >= (counts[best] ?? 0) ? value : best), 0);
}

function line(ctx: CanvasRenderingContext2D, x: number, top: number, height: number): void {
  ctx.beginPath();
  ctx.moveTo(Math.round(x) + 0.5, top);
  ctx.lineTo(Math.round(x) + 0.5, top + height);
  ctx.stroke();
}
