import type { Figure, Findings } from './figures.ts';

/** Findings as text, a line per figure and one for how it was measured. */
export function formatFindings({ bench, setting, figures }: Findings): string {
  const lines = figures.flatMap((figure) => [
    `  ${figure.verdict.padEnd(4)}  ${figure.name}: ${formatValue(figure)}${formatBound(figure)}`,
    `        ${figure.how}`,
  ]);
  return [`${bench}: ${setting}`, ...lines, ''].join('\n');
}

function formatValue({ value, unit }: Figure): string {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : 3;
  return `${value.toFixed(digits)}${unit === '' ? '' : ` ${unit}`}`;
}

function formatBound({ bound }: Figure): string {
  if (bound === undefined) return '';
  const limit = bound.atMost === undefined ? `≥ ${bound.atLeast}` : `≤ ${bound.atMost}`;
  return ` (bound ${limit}, from ${bound.from})`;
}
