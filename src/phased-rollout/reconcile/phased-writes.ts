import { assertNever } from '#base/assert-never.ts';
import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import type { Logger } from '#base/logger.ts';
import type { Monotonic } from '#base/units.ts';
import type { DeletePod, SetRef } from '#control/decision/decision.ts';
import { ResourceWrites } from '#control/resource/resource-writes.ts';
import { unlessSent } from '#control/write/unless-sent.ts';
import type { UnseenWrites } from '#control/write/unseen-writes.ts';
import type { Client, Patch } from '#kubernetes/client.ts';
import type { Freshness } from '#kubernetes/informer/freshness.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isOutcomeUnknown } from '#kubernetes/transport/api-error.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import { finalizer, ownerAnnotation, type RolloutView } from '../parse-resource.ts';
import type { PhasedDecision } from '../plan/plan-decision.ts';

/** A decision that changes a StatefulSet. */
export type SetDecision = Extract<PhasedDecision, { kind: 'adopt' | 'release' | 'set-partition' }>;

/** What writes go through. */
export interface PhasedWritePorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Freshness of the cache of StatefulSets. */
  readonly statefulSets: Freshness;
  readonly unseenSets: UnseenWrites;
  readonly unseenRollouts: UnseenWrites;
}

/** How a write leaves. */
export interface Sending {
  readonly signal: AbortSignal;
  /** Called last before it leaves; what it throws keeps it here. */
  readonly approve: () => void;
  /** No answer came to something that was sent, and it may take effect yet. */
  readonly onLost: (sentAt: Monotonic) => void;
}

/**
 * Writes what decisions want: no more than the fields that they are about, and only to the very state that they were made
 * on, so that nothing is done twice.
 */
export class PhasedWrites {
  readonly #ports: PhasedWritePorts;
  readonly #resources: ResourceWrites;

  constructor(ports: PhasedWritePorts) {
    const { client, clock, unseenRollouts: unseen } = ports;
    this.#ports = ports;
    this.#resources = new ResourceWrites({
      client,
      clock,
      type: resourceTypes.phasedRollouts,
      unseen,
    });
  }

  /** Changes the set as `decision` says, made for the PhasedRollout `owner`. @throws what the request fails with */
  async changeSet(decision: SetDecision, owner: string, sending: Sending): Promise<void> {
    const { client, clock, log, statefulSets, unseenSets } = this.#ports;
    const { set, revision, because } = decision;
    const { namespace, name } = set;
    let sentAt: Monotonic | undefined;
    const options = unlessSent(sending.signal, () => {
      sending.approve();
      sentAt = clock.monotonic();
      const { reason, message } = because;
      log.info(sayingOf(decision), {
        statefulset: name,
        ...detailOf(decision),
        reason,
        because: message,
      });
      log.flush();
    });
    const body: Patch = { kind: 'merge', document: documentOf(decision, owner) };
    try {
      const write = { body, ...options };
      const { metadata } = await client.patch(
        resourceTypes.statefulSets,
        { namespace, name },
        write,
      );
      unseenSets.answered(set.uid, metadata.resourceVersion);
      if (sentAt === undefined) return;
      statefulSets.ownWrite({ sentAt, before: revision, answered: metadata.resourceVersion });
    } catch (error) {
      if (sentAt !== undefined && isOutcomeUnknown(error)) sending.onLost(sentAt);
      throw error;
    }
  }

  /** Puts the finalizer on `rollout`, or takes it off; those of others stay. @throws what the request fails with */
  async changeFinalizer(
    rollout: RolloutView,
    kind: 'add-finalizer' | 'remove-finalizer',
    signal: AbortSignal,
  ): Promise<void> {
    await this.#resources.changeFinalizer(rollout, { kind, finalizer }, unlessSent(signal));
  }

  /**
   * Stores `status`, if `rollout` is still what was read.
   *
   * @returns the status as the server has it now
   * @throws what the request fails with
   */
  async storeStatus(
    rollout: RolloutView,
    status: JsonObject,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const stored = await this.#resources.storeStatus(rollout, status, unlessSent(signal));
    return objectAt(stored, 'status');
  }
}

function documentOf(decision: SetDecision, owner: string): JsonObject {
  const metadata = { uid: decision.set.uid, resourceVersion: decision.revision };
  switch (decision.kind) {
    case 'adopt':
      return {
        metadata: { ...metadata, annotations: { [ownerAnnotation]: owner } },
        ...(decision.partition !== undefined && strategyOf({ partition: decision.partition })),
      };
    case 'release':
      return {
        metadata: { ...metadata, annotations: { [ownerAnnotation]: null } },
        ...released(decision.drops),
      };
    case 'set-partition':
      return { metadata, ...strategyOf({ partition: decision.to }) };
    default:
      return assertNever(decision);
  }
}

function released(drops: Extract<SetDecision, { kind: 'release' }>['drops']): JsonObject {
  switch (drops) {
    case 'nothing':
      return {};
    case 'partition':
      return strategyOf({ partition: null });
    case 'rolling-update':
      return strategyOf(null);
    default:
      return assertNever(drops);
  }
}

function strategyOf(rollingUpdate: JsonObject | null): JsonObject {
  return { spec: { updateStrategy: { rollingUpdate } } };
}

function sayingOf({ kind }: SetDecision): string {
  switch (kind) {
    case 'adopt':
      return 'taking over statefulset';
    case 'release':
      return 'releasing statefulset';
    case 'set-partition':
      return 'setting partition';
    default:
      return assertNever(kind);
  }
}

function detailOf(decision: SetDecision): Readonly<Record<string, number | string>> {
  return decision.kind === 'set-partition'
    ? { partition: decision.to, currentPartition: decision.from }
    : {};
}

/** Names `rollout` in Events and reports. */
export function rolloutRef({ namespace, name, uid }: RolloutView): SetRef {
  return { namespace, name, uid };
}

/** Returns the deletion that `decision` is, as its sender takes it. */
export function deletionOf({
  set,
  pod,
  because: { reason, message },
}: Extract<PhasedDecision, { kind: 'delete-pod' }>): DeletePod {
  const isStuck = reason === 'StuckPodReplaced';
  return {
    kind: 'delete-pod',
    set,
    pod,
    costs: isStuck ? 'nothing' : 'a-slot',
    maxUnavailable: 1,
    because: { reason: isStuck ? 'StuckPodReplaced' : 'RollingBack', message },
  };
}
