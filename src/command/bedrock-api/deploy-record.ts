/** What a deploy API knows of a deploy. It is in an annotation of the StatefulsetRollout, and changes in one write with it. */
import type { CallbackReport } from '#notification/callback/callback-body.ts';

/** Annotation that holds the record, as JSON. */
export const recordAnnotation = 'bedrock.operator.slack.com/deploy';
/** Label by which a deploy is found. */
export const deployLabel = 'bedrock.operator.slack.com/deploy-id';

/** A phase of a deploy. */
export interface PhaseRecord {
  readonly percent: number;
  /** Undefined: it has not begun. */
  readonly stageId: string | undefined;
  /** What the last callback said; undefined: none has come. */
  readonly result: CallbackReport['result'] | undefined;
  /** What callbacks are known by, the latest last. */
  readonly seen: readonly string[];
}

/** A deploy. */
export interface DeployRecord {
  /** 20 lower case letters and digits. */
  readonly id: string;
  readonly isAutomatic: boolean;
  /** At least one. */
  readonly phases: readonly PhaseRecord[];
  /** Place of the phase that is carried out. */
  readonly current: number;
}

/** Callbacks that are remembered of one phase: a signature holds for five minutes. */
const mostSeen = 20;

/** Returns the record of a deploy that begins with its first phase. */
export function newRecord(
  id: string,
  percents: readonly number[],
  begun: { readonly stageId: string; readonly isAutomatic: boolean },
): DeployRecord {
  const phases = percents.map((percent, at) => ({
    percent,
    stageId: at === 0 ? begun.stageId : undefined,
    result: undefined,
    seen: [],
  }));
  return { id, isAutomatic: begun.isAutomatic, phases, current: 0 };
}

/** Returns `record` with its phase `at` begun, under a new stage id. */
export function withBegun(record: DeployRecord, at: number, stageId: string): DeployRecord {
  return {
    ...changed(record, at, (phase) => ({ ...phase, stageId, result: undefined })),
    current: at,
  };
}

/** Returns `record` with what a callback said of its present phase. */
export function withResult(
  record: DeployRecord,
  result: CallbackReport['result'],
  marks: readonly string[],
): DeployRecord {
  return changed(record, record.current, (phase) => ({
    ...phase,
    result,
    seen: [...phase.seen, ...marks].slice(-mostSeen),
  }));
}

function changed(
  record: DeployRecord,
  at: number,
  change: (phase: PhaseRecord) => PhaseRecord,
): DeployRecord {
  const phases = record.phases.map((phase, index) => (index === at ? change(phase) : phase));
  return { ...record, phases };
}

/** Returns the id of the deploy that a stage id was made for; undefined for one that was not made here. */
export function deployIdIn(stageId: string): string | undefined {
  return /^([a-z0-9]{20})\.[a-z0-9]{20}$/.exec(stageId)?.[1];
}

/** Returns the text of the annotation. */
export function formatRecord({ id, isAutomatic, phases, current }: DeployRecord): string {
  return JSON.stringify({ id, autoAdvance: isAutomatic, current, phases });
}
