import type { Logger } from '#base/logger.ts';
import { after, type Millis, millis, seconds } from '#base/units.ts';
import { StaleBasisError } from '#control/basis.ts';
import type { DeletePod, Requeue } from '#control/decision.ts';
import { sooner } from '#control/group-plan.ts';
import type { EndedDeletion, PodDeletions } from '#control/pod-deletions.ts';
import { isProven } from '#control/set-proof.ts';
import type { UnseenWrites } from '#control/unseen-writes.ts';
import type { EventRecorder } from '#kubernetes/event-recorder.ts';
import type { RolloutView } from './parse-resource.ts';
import type { RolloutAction } from './plan-decision.ts';
import { isTerminal } from './progress.ts';
import {
  type Asking,
  approvePod,
  approveWrite,
  type RolloutApprovalPorts,
} from './rollout-approval.ts';
import { type RolloutMoment, rolloutMomentOf, scopeOf, specOf } from './rollout-moment.ts';
import { tellRollout } from './rollout-reasons.ts';
import type { RolloutWitness } from './rollout-witness.ts';
import type { RolloutWrites } from './rollout-writes.ts';
import type { SetWrites } from './set-writes.ts';
import { formatStatus } from './status-view.ts';

/** What passes go through. */
export interface RolloutPassPorts extends RolloutApprovalPorts {
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly writes: RolloutWrites;
  readonly setWrites: SetWrites;
  readonly deletions: PodDeletions;
  readonly unseenSets: UnseenWrites;
  readonly unseenRollouts: UnseenWrites;
  readonly witness: RolloutWitness;
}

/** What a pass came to. */
export type RolloutPassEnd =
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'ended';
      readonly rollout: RolloutView;
      /** What is waited for. */
      readonly holds: readonly { readonly reason: string; readonly message: string }[];
      readonly requeue: Requeue;
    };

type Of<K extends RolloutAction['kind']> = Extract<RolloutAction, { kind: K }>;
type Need = (signal: AbortSignal) => Promise<void>;
type SetAction = Of<'create-set' | 'update-set' | 'orphan-pods' | 'delete-set' | 'release-set'>;

/** How long a write of ours may be missing in its cache before that is told. */
const patience: Millis = seconds(10);
/** How often one pass has the view proven before it gives up for now. */
const mostReads = 3;

/** One pass over a StatefulsetRollout: look, see to what the plan needs, store what is decided, then do it. */
export class RolloutPassRun {
  readonly #key: string;
  readonly #ports: RolloutPassPorts;
  #reads = 0;

  constructor(key: string, ports: RolloutPassPorts) {
    this.#key = key;
    this.#ports = ports;
  }

  /** @throws what a request fails with, OverruledError or StaleBasisError where something may not be sent any more */
  async run(signal: AbortSignal): Promise<RolloutPassEnd> {
    for (;;) {
      const moment = rolloutMomentOf(this.#key, this.#ports);
      if (moment === undefined) return { kind: 'gone' };
      const unseen = this.#awaitingOwnWrite(moment);
      if (unseen !== undefined) return unseen;
      const need = this.#needOf(moment);
      if (need === undefined) return this.#carryOut(moment, signal);
      await need(signal);
    }
  }

  /** What has been written is on its way: nothing is decided on what was before it. */
  #awaitingOwnWrite({
    rollout,
    snapshot,
    now,
    monotonic,
  }: RolloutMoment): RolloutPassEnd | undefined {
    const { unseenSets, unseenRollouts } = this.#ports;
    const { target } = snapshot;
    const unseen = unseenRollouts.of(rollout.uid) ?? (target && unseenSets.of(target.set.uid));
    if (unseen === undefined) return undefined;
    const left = unseen.answeredAt + patience - monotonic;
    if (left > 0) {
      const requeue = { kind: 'at', at: after(now, millis(left)) } as const;
      return { kind: 'ended', rollout, holds: [], requeue };
    }
    const message = `a write that was stored at revision ${unseen.revision} does not show for more than 10 s`;
    const holds = [{ reason: 'AwaitingOwnWrite', message }];
    return { kind: 'ended', rollout, holds, requeue: { kind: 'await-change' } };
  }

  #needOf({
    rollout,
    plan,
    proof,
    monotonic,
    snapshot,
    unreadRevisions,
  }: RolloutMoment): Need | undefined {
    const { ages, reads } = this.#ports;
    if (unreadRevisions.length > 0) {
      return (signal) => ages.read(rollout.namespace, unreadRevisions, signal);
    }
    const { target } = snapshot;
    const takesPods = plan.action?.kind === 'evict' || plan.action?.kind === 'delete-pods';
    if (!takesPods || target === undefined || isProven(proof, monotonic)) return undefined;
    this.#reads += 1;
    if (this.#reads > mostReads) throw new StaleBasisError(Number.POSITIVE_INFINITY);
    const scope = scopeOf(rollout.namespace, target.set.name);
    const wish = { pods: true, statefulSets: true };
    return (signal) => reads.read(scope, { wish, cached: [target.set] }, signal);
  }

  async #carryOut(moment: RolloutMoment, signal: AbortSignal): Promise<RolloutPassEnd> {
    const { action } = moment.plan;
    this.#ports.witness.seen(moment);
    if (action === undefined) return this.#ended(moment, await this.#store(moment, signal));
    switch (action.kind) {
      case 'compare':
      case 'validate':
        await this.#look(action.kind, moment, signal);
        return this.#ended(moment, at(moment));
      case 'add-finalizer':
        await this.#ports.writes.changeFinalizer(moment.rollout, action.kind, signal);
        return this.#ended(moment, at(moment));
      default:
        // Decided, stored, done: whoever comes after this process knows what may be under way.
        await this.#storeNow(moment, signal);
        await this.#act(action, moment, signal);
        return this.#ended(moment, at(moment));
    }
  }

  #ended({ rollout, plan }: RolloutMoment, requeue: Requeue): RolloutPassEnd {
    const isWaiting = plan.action === undefined && !isTerminal(plan.progress.phase);
    const holds = isWaiting && plan.because !== undefined ? [plan.because] : [];
    return { kind: 'ended', rollout, holds, requeue };
  }

  async #look(
    kind: 'compare' | 'validate',
    { rollout, snapshot }: RolloutMoment,
    signal: AbortSignal,
  ): Promise<void> {
    const spec = specOf(rollout);
    if (spec === undefined) return;
    const { sights } = this.#ports;
    if (kind === 'compare') await sights.compare(rollout, spec, signal);
    else await sights.validate(rollout, spec, { set: snapshot.target?.set, signal });
  }

  /** Stores what has changed; what no decision rests on is stored once a second at most. */
  async #store(moment: RolloutMoment, signal: AbortSignal): Promise<Requeue> {
    const { rollout, plan, now } = moment;
    const missing = this.#ports.writes.missing(rollout, formatStatus(moment));
    if (missing.kind === 'nothing') return plan.requeue;
    if (missing.kind === 'later') {
      return sooner(plan.requeue, { kind: 'at', at: after(now, missing.in) });
    }
    await this.#storeNow(moment, signal);
    return sooner(plan.requeue, at(moment));
  }

  async #storeNow(moment: RolloutMoment, signal: AbortSignal): Promise<void> {
    const { rollout, plan, now } = moment;
    const { writes, events, witness } = this.#ports;
    const status = formatStatus(moment);
    if (writes.missing(rollout, status).kind === 'nothing') return;
    await writes.storeStatus(rollout, status, { now, signal });
    const isNew =
      plan.progress.phase !== rollout.progress.phase || plan.progress.key !== rollout.progress.key;
    if (isNew && plan.action === undefined && plan.because !== undefined) {
      tellRollout(rollout, plan.because, events);
    }
    witness.stored(moment);
  }

  async #act(action: RolloutAction, moment: RolloutMoment, signal: AbortSignal): Promise<void> {
    const { rollout, plan } = moment;
    const { writes, events, witness } = this.#ports;
    switch (action.kind) {
      case 'evict':
      case 'delete-pods':
        await this.#removePods(action, moment, signal);
        return;
      case 'remove-finalizer':
        await writes.changeFinalizer(rollout, action.kind, signal);
        return;
      case 'add-finalizer':
      case 'compare':
      case 'validate':
        return;
      default:
        await this.#writeSet(action, moment, signal);
        if (plan.because !== undefined) tellRollout(rollout, plan.because, events);
        witness.written(moment);
    }
  }

  #asking({ rollout }: RolloutMoment): Asking {
    return { key: this.#key, decided: rollout, ports: this.#ports };
  }

  async #writeSet(action: SetAction, moment: RolloutMoment, signal: AbortSignal): Promise<void> {
    const { rollout, snapshot, plan } = moment;
    const { setWrites } = this.#ports;
    const { target } = snapshot;
    const spec = specOf(rollout);
    const { because } = plan;
    if (because === undefined) return;
    const asking = this.#asking(moment);
    const approve = (): void => approveWrite(action.kind, asking);
    const sending = { signal, because, approve };
    if (action.kind === 'create-set') {
      if (spec !== undefined) await setWrites.create(rollout, spec, sending);
    } else if (target === undefined) return;
    else if (action.kind === 'update-set') await setWrites.update(rollout, target.set, sending);
    else if (action.kind === 'release-set') await setWrites.release(rollout, target.set, sending);
    else {
      const policy = action.kind === 'orphan-pods' ? 'Orphan' : 'Background';
      await setWrites.remove(action.set, policy, sending);
    }
  }

  async #removePods(
    action: Of<'evict' | 'delete-pods'>,
    moment: RolloutMoment,
    signal: AbortSignal,
  ): Promise<void> {
    const { rollout, plan } = moment;
    const { because } = plan;
    if (because === undefined) return;
    const { evictions, events } = this.#ports;
    const asking = this.#asking(moment);
    if (action.kind === 'delete-pods') {
      await this.#deletePods(action, asking, signal);
      tellRollout(rollout, because, events);
      return;
    }
    const approve = (pod: (typeof action.pods)[number]): ReturnType<typeof approvePod> =>
      approvePod('evict', pod, asking);
    const batch = this.#ports.witness.batchOf(rollout);
    const owner = { uid: rollout.uid, because, approve, ended: batch.ended };
    const accepted = await evictions.evict(action.pods, owner, signal).finally(batch.close);
    if (accepted > 0) tellRollout(rollout, because, events);
  }

  async #deletePods(
    { set, pods }: Of<'delete-pods'>,
    asking: Asking,
    signal: AbortSignal,
  ): Promise<void> {
    const because = { reason: 'StuckPodReplaced', message: 'its version is taken back' } as const;
    const deletions = pods.map(
      (pod): DeletePod => ({
        kind: 'delete-pod',
        set,
        pod,
        costs: 'nothing',
        maxUnavailable: 1,
        because,
      }),
    );
    const ended: EndedDeletion[] = [];
    const done = Promise.withResolvers<void>();
    const owner = {
      key: this.#key,
      approve: ({ pod }: DeletePod) => approvePod('delete-pods', pod, asking),
      ended: (each: EndedDeletion) => {
        ended.push(each);
        if (ended.length >= Math.min(deletions.length, mostDeletions)) done.resolve();
      },
    };
    this.#ports.deletions.begin(deletions.slice(0, mostDeletions), owner, signal);
    await done.promise;
    const failed = ended.find(({ end }) => end.kind === 'failed');
    if (failed?.end.kind === 'failed') throw failed.end.error;
  }
}

/** So many pods are deleted by one pass. */
const mostDeletions = 32;

/** It is looked again at once, or as soon as what was written shows. */
function at({ now }: RolloutMoment): Requeue {
  return { kind: 'at', at: now };
}
