import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import type { Logger } from '#base/logger.ts';
import type { SetRef } from '#control/decision/decision.ts';
import { unlessSent } from '#control/write/unless-sent.ts';
import type { UnseenWrites } from '#control/write/unseen-writes.ts';
import type { Client } from '#kubernetes/client.ts';
import { apiVersionOf, resourceTypes } from '#kubernetes/resource-type.ts';
import { ApiError, isConflict, isOutcomeUnknown } from '#kubernetes/transport/api-error.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { StatefulsetRolloutSpec } from '../api.ts';
import type { RolloutView } from '../parse-resource.ts';
import type { BecauseRollout } from '../plan/plan-decision.ts';
import { isPinned } from '../plan/plan-pinned-set.ts';
import type { WantedScale } from '../snapshot.ts';
import type { PartitionWrites } from './partition-writes.ts';
import { strategyOf } from './pinned-set.ts';
import type { SetSights } from './set-sights.ts';
import { appliedAnnotation, hashAnnotation, rolloutAnnotation, wantedSet } from './wanted-set.ts';

/** What writes of sets go through. */
export interface SetWritePorts {
  readonly client: Client;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Logger;
  readonly sights: SetSights;
  readonly unseenSets: UnseenWrites;
  readonly partitions: PartitionWrites;
}

/** How a write leaves. */
export interface SetSending {
  readonly signal: AbortSignal;
  /** Called last before it leaves; what it throws keeps it here. */
  readonly approve: () => void;
  readonly because: BecauseRollout;
}

const type = resourceTypes.statefulSets;

/** Writes the sets of StatefulsetRollouts, each only to the very state that was read. */
export class SetWrites {
  readonly #ports: SetWritePorts;

  constructor(ports: SetWritePorts) {
    this.#ports = ports;
  }

  /** Makes the set, which belongs to `rollout` where `isOwned`. @throws what the request fails with */
  async create(
    rollout: RolloutView,
    { spec, isOwned }: { readonly spec: StatefulsetRolloutSpec; readonly isOwned: boolean },
    sending: SetSending,
  ): Promise<void> {
    const { namespace, name, uid } = rollout;
    const { client, unseenSets } = this.#ports;
    const wish = { namespace, rollout: name, replicas: spec.set.replicas };
    const set = wantedSet(spec.set, wish);
    const { apiVersion, kind } = ownType;
    const owner = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
    const metadata = { ...objectAt(set, 'metadata'), ...(isOwned && { ownerReferences: [owner] }) };
    const options = this.#options('creating statefulset', spec.set.name, sending);
    const body = { ...set, metadata };
    const stored = await client.create(type, { namespace }, { body, ...options });
    // By the resource: while the set does not show, its uid is unknown.
    unseenSets.answered(uid, stored.metadata.resourceVersion);
  }

  /** Makes the set as it is wanted, if it is still as it was compared. @throws what the request fails with */
  async update(rollout: RolloutView, set: StatefulSetView, sending: SetSending): Promise<void> {
    const { client, sights, unseenSets } = this.#ports;
    const patch = sights.patch(rollout, set);
    if (patch === undefined) return;
    const { namespace, name } = set;
    const body = { kind: 'strategic', document: patch.document } as const;
    const options = this.#options('updating statefulset', name, sending);
    try {
      const stored = await client.patch(type, { namespace, name }, { body, ...options });
      unseenSets.answered(set.uid, stored.metadata.resourceVersion);
      sights.written(rollout, stored);
    } catch (error) {
      // Its status has changed since, mostly: it is read again.
      if (isConflict(error)) sights.outdated(rollout);
      throw error;
    }
  }

  /** Gives the set another number of pods, if it is still as it was seen. @throws what the request fails with */
  async scale(
    rollout: RolloutView,
    { set, scale }: { readonly set: StatefulSetView; readonly scale: WantedScale },
    sending: SetSending,
  ): Promise<void> {
    const { client, sights, unseenSets } = this.#ports;
    const { namespace, name, uid, resourceVersion } = set;
    const { to: replicas, partition } = scale;
    const updateStrategy = partition === undefined ? undefined : strategyOf(partition);
    const spec = { replicas, ...(updateStrategy && { updateStrategy }) };
    const body = {
      kind: 'strategic',
      document: { metadata: { uid, resourceVersion }, spec },
    } as const;
    const options = this.#options('scaling statefulset', name, sending);
    try {
      const stored = await client.patch(type, { namespace, name }, { body, ...options });
      unseenSets.answered(uid, stored.metadata.resourceVersion);
    } finally {
      sights.outdated(rollout);
    }
  }

  /** Has the set pin its `to` lowest pods, if it is still as it was seen; undefined: none. @throws what the request fails with */
  async setPartition(
    rollout: RolloutView,
    { set, to }: { readonly set: StatefulSetView; readonly to: number | undefined },
    sending: SetSending,
  ): Promise<void> {
    const { client, clock, sights, unseenSets, partitions } = this.#ports;
    const { namespace, name, uid, resourceVersion } = set;
    const updateStrategy = strategyOf(to);
    const document = { metadata: { uid, resourceVersion }, spec: { updateStrategy } };
    const body = { kind: 'strategic', document } as const;
    const approve = (): void => {
      sending.approve();
      partitions.sent(set, clock.monotonic());
    };
    const marked = { ...sending, approve };
    const options = this.#options('setting the partition of statefulset', name, marked);
    try {
      const stored = await client.patch(type, { namespace, name }, { body, ...options });
      unseenSets.answered(uid, stored.metadata.resourceVersion);
      sights.repartitioned(rollout, set, stored);
    } catch (error) {
      if (error instanceof ApiError && !isOutcomeUnknown(error)) partitions.refused(uid);
      throw error;
    }
  }

  /** Takes the ownership of `rollout` off the set, if it is still as it was seen; its marks stay. @throws what the request fails with */
  async disown(rollout: RolloutView, set: StatefulSetView, sending: SetSending): Promise<void> {
    const { client, sights, unseenSets } = this.#ports;
    const { namespace, name, uid, resourceVersion } = set;
    const metadata = { uid, resourceVersion, ownerReferences: withoutOwner(rollout) };
    const body = { kind: 'strategic', document: { metadata } } as const;
    const options = this.#options('taking the owner reference off statefulset', name, sending);
    try {
      const stored = await client.patch(type, { namespace, name }, { body, ...options });
      unseenSets.answered(uid, stored.metadata.resourceVersion);
    } finally {
      sights.outdated(rollout);
    }
  }

  /** Takes the marks and the ownership of `rollout` off the set. @throws what the request fails with */
  async release(rollout: RolloutView, set: StatefulSetView, sending: SetSending): Promise<void> {
    const { client, unseenSets } = this.#ports;
    const { namespace, name, uid, resourceVersion } = set;
    const annotations = {
      [rolloutAnnotation]: null,
      [hashAnnotation]: null,
      [appliedAnnotation]: null,
    };
    const document = {
      metadata: { uid, resourceVersion, annotations, ownerReferences: withoutOwner(rollout) },
      // No controller would move its partition any more.
      ...(isPinned(rollout.progress, set) && { spec: { updateStrategy: strategyOf(undefined) } }),
    };
    const body = { kind: 'strategic', document } as const;
    const options = this.#options('releasing statefulset', name, sending);
    const stored = await client.patch(type, { namespace, name }, { body, ...options });
    unseenSets.answered(uid, stored.metadata.resourceVersion);
  }

  /** Deletes the set, with its pods or without them. @throws what the request fails with */
  async remove(
    { namespace, name, uid }: SetRef,
    propagationPolicy: 'Background' | 'Orphan',
    sending: SetSending,
  ): Promise<void> {
    const options = this.#options('deleting statefulset', name, sending);
    const preconditions = { uid };
    const request = { preconditions, propagationPolicy, ...options };
    await this.#ports.client.delete(type, { namespace, name }, request);
  }

  #options(
    saying: string,
    statefulset: string,
    sending: SetSending,
  ): ReturnType<typeof unlessSent> {
    const { log } = this.#ports;
    return unlessSent(sending.signal, () => {
      sending.approve();
      const { reason, message } = sending.because;
      log.info(saying, { statefulset, reason, because: message });
      log.flush();
    });
  }
}

/** Returns the owner references of a strategic merge patch that takes `rollout` out of them, and leaves those of others. */
function withoutOwner({ uid }: RolloutView): readonly JsonObject[] {
  return [{ $patch: 'delete', uid }];
}

const ownType = {
  apiVersion: apiVersionOf(resourceTypes.statefulsetRollouts),
  kind: resourceTypes.statefulsetRollouts.kind,
} as const;
