import type { DeletePod } from '#control/decision/decision.ts';
import type { EndedDeletion, PodDeletions } from '#control/write/pod-deletions.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { RolloutView } from '../parse-resource.ts';
import { isDisruptive, type RolloutAction } from '../plan/plan-decision.ts';
import { tellRollout } from '../rollout-reasons.ts';
import type { SetSending, SetWrites } from '../statefulset/set-writes.ts';
import {
  type Asking,
  approvePod,
  approveWrite,
  type RolloutApprovalPorts,
} from './rollout-approval.ts';
import { type RolloutMoment, specOf } from './rollout-moment.ts';
import type { RolloutWitness } from './rollout-witness.ts';
import type { RolloutWrites } from './rollout-writes.ts';
import { ViewRenewal } from './view-renewal.ts';

/** What actions go through. */
export interface RolloutActionPorts extends RolloutApprovalPorts {
  readonly events: EventRecorder;
  readonly writes: RolloutWrites;
  readonly setWrites: SetWrites;
  readonly deletions: PodDeletions;
  readonly witness: RolloutWitness;
}

type Of<K extends RolloutAction['kind']> = Extract<RolloutAction, { kind: K }>;
type SetAction = Of<
  | 'create-set'
  | 'update-set'
  | 'scale-set'
  | 'set-partition'
  | 'orphan-pods'
  | 'delete-set'
  | 'disown-set'
  | 'release-set'
>;

/** Actions that change the set, its pods, or the finalizer. */
export type WorldAction = Exclude<
  RolloutAction,
  { kind: 'add-finalizer' | 'call-back' | 'compare' | 'validate' }
>;

/** What a pass over one StatefulsetRollout does to the world, each request approved exactly when it leaves. */
export class RolloutActions {
  readonly #key: string;
  readonly #ports: RolloutActionPorts;
  readonly #renewal: ViewRenewal;

  constructor(key: string, ports: RolloutActionPorts) {
    this.#key = key;
    this.#ports = ports;
    this.#renewal = new ViewRenewal(key, ports);
  }

  /**
   * Carries out what is planned.
   *
   * @throws what a request fails with, OverruledError or StaleBasisError where something may not be sent any more
   */
  async carryOut(action: WorldAction, moment: RolloutMoment, signal: AbortSignal): Promise<void> {
    const { rollout, plan } = moment;
    const { writes, events } = this.#ports;
    switch (action.kind) {
      case 'evict':
      case 'delete-pods':
        await this.#removePods(action, moment, signal);
        return;
      case 'remove-finalizer':
        await writes.changeFinalizer(rollout, action.kind, signal);
        return;
      default:
        await (isDisruptive(action) ? this.#renewal.all(signal) : this.#renewal.resource(signal));
        await this.#writeSet(action, moment, signal);
        if (plan.because !== undefined) tellRollout(rollout, plan.because, events);
        this.#ports.witness.written(moment);
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
    const approve = (): void => approveWrite(action, asking);
    const sending = { signal, because, approve };
    if (action.kind === 'create-set') {
      const isOwned = plan.progress.isCreator && spec?.deletionPolicy !== 'Orphan';
      if (spec !== undefined) await setWrites.create(rollout, { spec, isOwned }, sending);
    } else if (target !== undefined)
      await this.#writeFound(action, target.set, { rollout, sending });
  }

  async #writeFound(
    action: Exclude<SetAction, { kind: 'create-set' }>,
    set: StatefulSetView,
    { rollout, sending }: { readonly rollout: RolloutView; readonly sending: SetSending },
  ): Promise<void> {
    const { setWrites } = this.#ports;
    switch (action.kind) {
      case 'update-set':
        await setWrites.update(rollout, set, sending);
        return;
      case 'scale-set':
        await setWrites.scale(rollout, { set, scale: action.scale }, sending);
        return;
      case 'set-partition':
        await setWrites.setPartition(rollout, { set, to: action.to }, sending);
        return;
      case 'disown-set':
        await setWrites.disown(rollout, set, sending);
        return;
      case 'release-set':
        await setWrites.release(rollout, set, sending);
        return;
      default: {
        const policy = action.kind === 'orphan-pods' ? 'Orphan' : 'Background';
        await setWrites.remove(action.set, policy, sending);
      }
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
      await this.#renewal.all(signal);
      await this.#deletePods(action, asking, signal);
      tellRollout(rollout, because, events);
      return;
    }
    const approve = (pod: (typeof action.pods)[number]): ReturnType<typeof approvePod> =>
      approvePod('evict', pod, asking);
    const batch = this.#ports.witness.batchOf(rollout);
    const ready = (): Promise<void> => this.#renewal.all(signal);
    const owner = { uid: rollout.uid, because, ready, approve, ended: batch.ended };
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
