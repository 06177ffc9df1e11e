import type { Millis } from '#base/units.ts';
import { secondsText } from '../observer/facts.ts';
import type { HandOver, Succession } from './hand-over.ts';
import { demoLease } from './short-times.ts';

/** One line of a summary, and whether what it says was promised. */
interface Verdict {
  readonly isKept: boolean;
  readonly line: string;
}

/** Returns how long a rollout took that went through several hands. */
export function handOverTime(took: Millis): string {
  return `the rollout took ${secondsText(took)}, with one stop and one crash of the operator in it`;
}

/** Returns what became of a leader that was stopped, and of one that was killed; nothing where none was. */
export function handOverVerdicts({
  handOver,
  proof,
}: {
  readonly handOver: HandOver | undefined;
  readonly proof: { readonly deletions: number };
}): readonly Verdict[] {
  if (handOver === undefined) return [];
  const { stop, crash, pods } = handOver;
  return [stopVerdict(stop), crashVerdict(crash), deletionsVerdict(proof.deletions, pods)];
}

function stopVerdict(stop: Succession): Verdict {
  const { from, to, isClean, hasWaited } = stop;
  const isKept = isClean && !hasWaited;
  if (isKept) {
    return {
      isKept,
      line: `${from} was stopped in good order: ${wentOn(stop)}, with no wait for it`,
    };
  }
  const why = isClean ? `${to} waited for it` : 'the Lease did not say so';
  return { isKept, line: `broken promise: ${from} was stopped in good order, but ${why}` };
}

function crashVerdict(crash: Succession): Verdict {
  const { from, to, deletedAfter, hasWaited } = crash;
  const isKept = deletedAfter >= demoLease;
  const why = hasWaited
    ? 'and gave AwaitingPredecessor as the reason'
    : 'as no request that could still arrive was named in the Lease';
  const line = isKept
    ? `${from} was killed: ${wentOn(crash)}, ${why}`
    : `broken promise: ${from} was killed, and ${to} deleted a pod ${secondsText(deletedAfter)} later`;
  return { isKept, line };
}

function wentOn({ to, ledAfter, deletedAfter }: Succession): string {
  return `${to} led ${secondsText(ledAfter)} later, deleted its first pod after ${secondsText(deletedAfter)}`;
}

function deletionsVerdict(deletions: number, pods: number): Verdict {
  const isKept = deletions === pods;
  const line = isKept
    ? `${pods} pods were replaced with ${deletions} deletions: nothing was done twice`
    : `broken promise: ${pods} pods were replaced with ${deletions} deletions`;
  return { isKept, line };
}
