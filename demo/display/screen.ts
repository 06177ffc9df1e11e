import type { Because } from '#base/because.ts';
import type { Millis } from '#base/units.ts';
import type { PodState } from '../cluster/pod-state.ts';
import { type Fact, factLine, secondsText, shortRevision } from '../observer/facts.ts';
import { nextStep, type PodCell, type ZoneView } from '../observer/zone-view.ts';
import { cut, type Span, type Style, type StyledLine, span, wrap } from './styled-line.ts';

/** Everything that the screen shows. */
export interface ScreenState {
  /** What is being played, such as `rolling out registry.example/ingester:2.11.0`. */
  readonly phase: string;
  /** Since what is simulated began, and below which a rollout cannot end; undefined when nothing is simulated. */
  readonly clock: { readonly elapsed: Millis; readonly limit: Millis | undefined } | undefined;
  readonly zones: readonly ZoneView[];
  readonly because: Because | undefined;
  /** What comes next, where it is no rollout. */
  readonly next?: string | undefined;
  /** Lines of the scenario's own, while it is simulated. */
  readonly panel?: readonly string[] | undefined;
  /** The last lines of a run that has ended; replace reason, next step and those lines. */
  readonly summary: readonly string[];
  /** Oldest first. */
  readonly facts: readonly Fact[];
  /** Commands and keys. */
  readonly hints: readonly string[];
}

/** Room on the terminal, in characters. */
export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

const shownFacts = 6;
const shownReasonLines = 2;
/** How many of the scenario's own lines are shown. */
const shownPanelLines = 3;

/** Returns the lines that show `state`, none longer than `size.columns` and no more than `size.rows`. */
export function screenLines(state: ScreenState, size: ScreenSize): readonly StyledLine[] {
  const { columns, rows } = size;
  const parts: readonly (readonly StyledLine[])[] = [
    headLines(state),
    zoneLines(state.zones, columns),
    [legend()],
    state.summary.length > 0 ? summaryLines(state.summary, columns) : reasonLines(state, columns),
    state.summary.length > 0 ? [] : panelLines(state.panel ?? [], columns),
    state.facts.slice(-shownFacts).map(factSpans),
    state.hints.map((hint) => [span(`  ${hint}`, 'faint')]),
  ];
  const shown = fitting(parts, rows);
  const lines = shown.flatMap((part, index) => (index === 0 ? part : [[], ...part]));
  return lines.slice(0, rows).map((line) => cut(line, columns));
}

/** Drops hints, facts, the legend and the scenario's own lines, in this order, until the rest fits. */
function fitting(
  parts: readonly (readonly StyledLine[])[],
  rows: number,
): readonly (readonly StyledLine[])[] {
  let shown = parts.filter((part) => part.length > 0);
  for (const dropped of [parts[6], parts[5], parts[2], parts[4]]) {
    const height = shown.reduce((sum, part) => sum + part.length + 1, -1);
    if (height <= rows) break;
    shown = shown.filter((part) => part !== dropped);
  }
  return shown;
}

function headLines({ phase, clock, zones }: ScreenState): readonly StyledLine[] {
  const title = [span('rollout-operator', 'bold'), span(`  ${phase}`)];
  const cells = zones.flatMap((zone) => zone.cells);
  const updated = cells.filter(({ isUpdated }) => isUpdated).length;
  if (clock === undefined) return [title, []];
  if (clock.limit === undefined) {
    return [
      title,
      [span(`  ${cells.length} pods`), span(`, ${secondsText(clock.elapsed)}`, 'faint')],
    ];
  }
  const progress = `  ${updated} of ${cells.length} pods updated`;
  const time = `, ${secondsText(clock.elapsed)} (physical limit ${secondsText(clock.limit)})`;
  return [title, [span(progress), span(time, 'faint')]];
}

function zoneLines(zones: readonly ZoneView[], columns: number): readonly StyledLine[] {
  const nameWidth = Math.max(0, ...zones.map(({ zone }) => zone.length));
  return zones.map((zone) => {
    const available = zone.cells.length - zone.unavailable;
    const count = `${available}/${zone.cells.length}`.padStart(7);
    const lead = `  ${zone.zone.padEnd(nameWidth)}${count}  `;
    const tail = revisionSpans(zone);
    const room = columns - lead.length - 2 - tail.reduce((sum, { text }) => sum + text.length, 0);
    return [span(lead), ...cellSpans(zone.cells, room), span('  '), ...tail];
  });
}

function cellSpans(cells: readonly PodCell[], room: number): readonly Span[] {
  const gap = cells.length * 2 - 1 <= room ? ' ' : '';
  return cells.map((cell, index) => {
    const { symbol, style } = symbolOf(cell);
    return span(index === 0 ? symbol : gap + symbol, style);
  });
}

function revisionSpans({ current, target }: ZoneView): readonly Span[] {
  if (current === target) return [span(shortRevision(target), 'faint')];
  return [
    span(shortRevision(current), 'old'),
    span(' → ', 'faint'),
    span(shortRevision(target), 'good'),
  ];
}

const symbols: Readonly<Record<Exclude<PodState, 'ready'>, { symbol: string; style: Style }>> = {
  starting: { symbol: '◐', style: 'busy' },
  broken: { symbol: '✗', style: 'bad' },
  terminating: { symbol: '◌', style: 'waiting' },
  gone: { symbol: '·', style: 'waiting' },
};

function symbolOf(cell: Pick<PodCell, 'state' | 'isUpdated'>): { symbol: string; style: Style } {
  if (cell.state !== 'ready') return symbols[cell.state];
  return cell.isUpdated ? { symbol: '●', style: 'good' } : { symbol: '○', style: 'old' };
}

function legend(): StyledLine {
  const entries: readonly (readonly [string, Pick<PodCell, 'state' | 'isUpdated'>])[] = [
    ['ready, new', { state: 'ready', isUpdated: true }],
    ['ready, old', { state: 'ready', isUpdated: false }],
    ['terminating', { state: 'terminating', isUpdated: false }],
    ['gone', { state: 'gone', isUpdated: false }],
    ['starting', { state: 'starting', isUpdated: true }],
    ['broken', { state: 'broken', isUpdated: true }],
  ];
  return entries.flatMap(([name, cell]) => {
    const { symbol, style } = symbolOf(cell);
    return [span('  '), span(symbol, style), span(` ${name}`, 'faint')];
  });
}

function summaryLines(summary: readonly string[], columns: number): readonly StyledLine[] {
  return summary
    .flatMap((line) => wrap(line, { width: columns - 2, most: 3 }))
    .map((line) => [span('  '), span(line, 'bold')]);
}

function reasonLines(
  { because, zones, next }: ScreenState,
  columns: number,
): readonly StyledLine[] {
  const message =
    because === undefined ? 'nothing to do' : `${because.message} (${because.reason})`;
  const lines = wrap(message, { width: columns - 9, most: shownReasonLines });
  // Always the same height, so that nothing below jumps.
  const shown = Array.from({ length: shownReasonLines }, (_, index) => lines[index] ?? '');
  return [
    ...shown.map((line, index) => [
      span(index === 0 ? '  now    ' : '         ', 'bold'),
      span(line),
    ]),
    [
      span('  next   ', 'bold'),
      span(zones.length === 0 ? 'the zones are installed' : (next ?? nextStep(zones))),
    ],
  ];
}

function panelLines(panel: readonly string[], columns: number): readonly StyledLine[] {
  return panel.flatMap((line) => {
    const [first = '', ...more] = wrap(line, { width: columns - 6, most: shownPanelLines });
    return [[span(`  ${first}`)], ...more.map((text) => [span(`      ${text}`)])];
  });
}

const factStyles: Readonly<Partial<Record<Fact['kind'], Style>>> = {
  ready: 'good',
  updated: 'good',
  broken: 'bad',
  unready: 'bad',
  waits: 'waiting',
};

function factSpans(fact: Fact): StyledLine {
  return [span(factLine(fact), factStyles[fact.kind] ?? 'plain')];
}
