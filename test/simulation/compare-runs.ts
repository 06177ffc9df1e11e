/** What one telling of a story came to, and how it differs from the telling without faults. */
import type { Judgement } from '#support/judge/judge.ts';
import type { World } from '#support/world/world.ts';
import type { Fault } from './fault.ts';
import { faultName } from './fault-name.ts';
import type { Scenario } from './scenario.ts';

/** One run of a story. */
export interface Run {
  readonly scenario: Scenario;
  readonly fault: Fault | undefined;
  readonly world: World;
  /** Whether the fault struck; a fault that cannot strike tests nothing. */
  readonly hasStruck: boolean;
  /** How often we took away each pod, by name. */
  readonly removals: ReadonlyMap<string, number>;
  /** What the story ended in, by object. */
  readonly endState: ReadonlyMap<string, string>;
  /** What is wrong, one sentence each; empty: all promises were kept. */
  readonly problems: readonly string[];
  readonly judgement: Judgement;
}

/** A story without faults, and all that could go wrong in it. */
export interface Reference {
  readonly run: Run;
  readonly faults: readonly Fault[];
}

/** Returns what the run did otherwise than the story without faults, and where it ended otherwise (SWEEP-2 a, b). */
export function differences(
  run: Pick<Run, 'removals' | 'endState' | 'fault'>,
  { run: reference }: Reference,
): readonly string[] {
  const isChanged = run.fault?.kind === 'change' || run.fault?.kind === 'slow-read';
  // What the world does to the wanted state in between, it takes back: only the count of its generations stays.
  const shown = (text: string): string =>
    isChanged ? text.replace(/"observedGeneration":\d+,/, '') : text;
  return [...otherRemovals(run, reference), ...otherEnd(run, reference, shown)];
}

/** How often each pod may go where the world changes in between: forth, back and forth again; or once. */
function mostRemovals(fault: Fault | undefined): number | undefined {
  if (fault?.kind !== 'change' && fault?.kind !== 'slow-read') return undefined;
  return fault.change === 'rollback' ? 3 : 1;
}

function otherEnd(
  run: Pick<Run, 'endState'>,
  reference: Run,
  shown: (text: string) => string,
): readonly string[] {
  const names = new Set([...run.endState.keys(), ...reference.endState.keys()]);
  return [...names].flatMap((name) => {
    const ended = shown(run.endState.get(name) ?? 'not there');
    const expected = shown(reference.endState.get(name) ?? 'not there');
    return ended === expected ? [] : [`${name} ended as ${ended}, without faults as ${expected}`];
  });
}

function otherRemovals(run: Pick<Run, 'removals' | 'fault'>, reference: Run): readonly string[] {
  const removals = mostRemovals(run.fault) ?? reference.scenario.removals;
  const names = new Set([...run.removals.keys(), ...reference.removals.keys()]);
  return [...names].flatMap((name) => {
    const count = run.removals.get(name) ?? 0;
    const expected = reference.removals.get(name) ?? 0;
    const isFair = removals === 'reference' ? count === expected : count <= removals;
    if (isFair) return [];
    const fair = removals === 'reference' ? `${expected} without faults` : `${removals} are fair`;
    return [`Pod ${name} was taken away ${count} times, ${fair}`];
  });
}

/** Returns what a person needs to know of a run that failed, and how to see it again. */
export function failureText({ scenario, fault, problems, judgement }: Run): string {
  return [
    `${title(scenario, fault)}:`,
    ...problems.map((problem) => `  ${problem}`),
    replayLine(scenario, fault),
    ...(judgement.violations.length === 0 ? [] : [judgement.report()]),
  ].join('\n');
}

/** Returns how people call the run of a story. */
export function title({ name }: Scenario, fault: Fault | undefined): string {
  return `${name}, ${fault === undefined ? 'no fault' : faultName(fault)}`;
}

/** Returns the line that says how to tell the story again. */
export function replayLine({ name }: Scenario, fault: Fault | undefined): string {
  const which = fault === undefined ? '' : ` --fault "${faultName(fault)}"`;
  return `  npm run do -- sweep --scenario ${name}${which}`;
}
