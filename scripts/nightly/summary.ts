import type { StageResult } from './stage.ts';

/** Which stages there are, and how those ended that have run. */
export interface Night {
  /** What is checked out. */
  readonly state: string;
  /** Names of the stages that were chosen. */
  readonly chosen: readonly string[];
  /** Names of the stages that were not. */
  readonly left: readonly string[];
  readonly results: ReadonlyMap<string, StageResult>;
}

/** What a night comes to: a line a stage, what was skipped and why below it, what failed at the end, and the counts. */
export function summarize({ state, chosen, left, results }: Night): string {
  const width = Math.max(...chosen.map(({ length }) => length));
  const rows = chosen.flatMap((name) => {
    const result = results.get(name);
    if (result === undefined) return [`not run              ${name}`];
    const { verdict, seconds, counted, skips } = result;
    const head = `${verdict === 'passed' ? 'passed' : 'FAILED'}  ${clock(seconds)}  ${name.padEnd(width)}  ${counted}`;
    return [head.trimEnd(), ...skips.map((skip) => `                   ${skip}`)];
  });
  const ended = chosen.flatMap((name) => results.get(name) ?? []);
  const failed = ended.filter(({ verdict }) => verdict === 'failed');
  const failures = failed.map(({ name, why, log }) => `\n${name} (all of it: ${log})\n${why}\n`);
  const total = ended.reduce((sum, { seconds }) => sum + seconds, 0);
  const missing = chosen.length - ended.length;
  const counts = [
    `${ended.length - failed.length} stages passed`,
    `${failed.length} failed`,
    `${missing} not run yet`,
    `${left.length} not chosen`,
  ];
  return [
    `The night of ${state}\n\n${rows.join('\n')}\n`,
    ...failures,
    `\n${counts.join(', ')}; ${clock(total).trim()} in all\n`,
  ].join('');
}

/** Hours, minutes and seconds, in ten columns. */
function clock(seconds: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  return `${Math.floor(seconds / 3_600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}`.padStart(
    10,
  );
}
