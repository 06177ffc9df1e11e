import type { Instant, Millis } from '#base/units.ts';
import { millis, seconds } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import type { SetFacts } from '../../history/facts.ts';
import { type Domain, type History, latestView, type View } from '../../history/history.ts';
import { Findings, type Invariant, type Point, type Violation } from '../invariant.ts';

/** When every group has to be complete, and stay so until the history ends. */
export interface CompletionOptions {
  /** The instant from which on it must hold: faults stopped plus {@link completionBound}. */
  readonly by: Instant;
  /** `LIVE-3` after a corrected spec. @default 'LIVE-1' */
  readonly id?: 'LIVE-1' | 'LIVE-3';
}

/** The terms of B (LIVE-1). */
export interface CompletionBound {
  /** Σ over sets ⌈slots / limit⌉; see {@link waves}. */
  readonly waves: number;
  /** R: a new pod is ready within. */
  readonly podReady: Millis;
  /** C: the StatefulSet controller acts within. */
  readonly controller: Millis;
  /** Lease, longest back-off and relist interval together. */
  readonly recovery: Millis;
}

/** Returns B = 2 × waves × (R + C + 5 s) + lease + max backoff + relist interval. */
export function completionBound(bound: CompletionBound): Millis {
  const wave = bound.podReady + bound.controller + seconds(5);
  return millis(2 * bound.waves * wave + bound.recovery);
}

/** Returns how many waves a full rollout of `sets` needs. */
export function waves(sets: readonly SetFacts[]): number {
  return sets.reduce((sum, set) => sum + Math.ceil(set.replicas / set.limit), 0);
}

/**
 * Returns why `set` is not as wanted in `view`; undefined when it is. A paused set need not run its target.
 */
export function incompleteness(set: SetFacts, history: History, view: View): string | undefined {
  if (set.target === undefined) return 'its target revision is unknown';
  if (set.replicas !== set.statusReplicas) {
    return `status.replicas is ${set.statusReplicas}, wanted are ${set.replicas}`;
  }
  const missing = history.unavailableSlots(set, view);
  if (missing.length > 0) return `slots ${missing.join(', ')} are unavailable`;
  if (set.isPaused) return undefined;
  const outdated = outdatedSlots(set, history, view);
  if (outdated.length > 0) return `slots ${outdated.join(', ')} do not run ${set.target}`;
  if (set.currentRevision === set.target) return undefined;
  return `status.currentRevision is ${set.currentRevision}, not ${set.target}`;
}

/** Returns the ordinals of the slots of `set` whose pod is there and does not run the target; none while that is unknown. */
export function outdatedSlots(set: SetFacts, history: History, view: View): readonly number[] {
  const found: number[] = [];
  if (set.target === undefined) return found;
  for (let index = 0; index < set.replicas; index += 1) {
    const pod = history.slotPod(set, set.ordinalsStart + index, view);
    if (pod !== undefined && pod.revision !== set.target) found.push(set.ordinalsStart + index);
  }
  return found;
}

/** LIVE-1, LIVE-3: from an instant on every group is complete and stays so. */
export class Completion implements Invariant {
  readonly #history: History;
  readonly #options: CompletionOptions;
  readonly #findings = new Findings();
  readonly #reported = new Set<Domain>();

  constructor(history: History, options: CompletionOptions) {
    this.#history = history;
    this.#options = options;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onCommit(commit: Commit): void {
    if (commit.at > this.#options.by) this.#judge(commit);
  }

  onEnd(end: Point): void {
    this.#judge(end);
  }

  #judge(point: Point): void {
    const view = latestView(point.at);
    for (const domain of this.#history.groups()) {
      if (this.#reported.has(domain)) continue;
      for (const set of this.#history.members(domain, view)) {
        const why = incompleteness(set, this.#history, view);
        if (why === undefined) continue;
        this.#reported.add(domain);
        const message = `StatefulSet ${set.namespace}/${set.name} is not as wanted: ${why}`;
        this.#findings.add(this.#options.id ?? 'LIVE-1', point, message);
      }
    }
  }
}
