import type { Decision } from '#control/decision/decision.ts';
import type { Reason } from '#control/decision/reasons.ts';
import { because } from '#control/decision/refs.ts';
import { strategyWriterText } from '#statefulset/metadata/writer-text.ts';
import { isTooLarge, largestSet } from '#statefulset/parse-ordinal.ts';
import { unusableRevision } from '#statefulset/revision.ts';
import { settledAt } from '#statefulset/slot.ts';
import { describeUnavailable, type Group, type Zone } from './plan-zone.ts';

/** What one zone comes to (RC-27). */
export type ZoneOutcome =
  /** It needs nothing, or is left alone; the next zone may go on. */
  | { readonly kind: 'done'; readonly decisions: readonly Decision[] }
  /** It is not done; the zones after it wait for it. */
  | { readonly kind: 'wait'; readonly decisions: readonly Decision[] }
  /** No zone goes on. */
  | {
      readonly kind: 'stop';
      readonly decisions: readonly Decision[];
      /** Why the pass counts as failed (ME-11); undefined when it does not. */
      readonly failure: string | undefined;
    };

/** What may hold a zone; undefined: it does not. */
type Policy = (zone: Zone, group: Group) => ZoneOutcome | undefined;

interface Rule {
  readonly policy: Policy;
  /** Whether it holds stuck pods too, which serve nothing and otherwise wait for no other zone (D-48). */
  readonly of: 'every pod' | 'pods that serve';
}

/** All that can hold a zone, in order; the first answer wins. What none of them holds goes on. */
const rules: readonly Rule[] = [
  { policy: otherStrategy, of: 'every pod' },
  { policy: setTooLarge, of: 'every pod' },
  { policy: twoZonesUnavailable, of: 'pods that serve' },
  { policy: conflicting, of: 'every pod' },
  { policy: paused, of: 'every pod' },
  { policy: beingDeleted, of: 'every pod' },
  { policy: revisionMissing, of: 'every pod' },
  { policy: revisionUnknown, of: 'every pod' },
  { policy: revisionUnusable, of: 'every pod' },
  { policy: upToDateButUnavailable, of: 'pods that serve' },
  { policy: upToDate, of: 'pods that serve' },
  { policy: nothingAvailable, of: 'pods that serve' },
  { policy: limitReached, of: 'pods that serve' },
];

/** Returns the first answer of a policy to `zone`; undefined when none holds it. */
export function zoneOutcome(zone: Zone, group: Group): ZoneOutcome | undefined {
  return firstAnswer(rules, zone, group);
}

/** Reports whether a policy holds even the stuck pods of `zone`. */
export function areStuckPodsHeld(zone: Zone, group: Group): boolean {
  const ofAll = rules.filter((rule) => rule.of === 'every pod');
  return firstAnswer(ofAll, zone, group) !== undefined;
}

function firstAnswer(asked: readonly Rule[], zone: Zone, group: Group): ZoneOutcome | undefined {
  for (const { policy } of asked) {
    const answer = policy(zone, group);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

/** Returns the decision that nothing is done about `zone`, for `reason`. */
export function hold(zone: Zone, reason: Reason, message: string): Decision {
  return { kind: 'hold', set: zone.ref, because: because(reason, message) };
}

/** Returns the answer that the zones after this one wait. */
export function wait(...decisions: readonly Decision[]): ZoneOutcome {
  return { kind: 'wait', decisions };
}

/** Returns the answer that the whole group waits, which counts as a success (ME-11). */
function stop(decision: Decision): ZoneOutcome {
  return { kind: 'stop', decisions: [decision], failure: undefined };
}

/** Returns the answer that the pass over the group fails with the message of `decision`. */
function fail(decision: Decision): ZoneOutcome {
  const { message } = decision.because;
  return { kind: 'stop', decisions: [decision], failure: message };
}

/** Holds a zone of another strategy than OnDelete, which has pods replaced by another client (RC-23). */
function otherStrategy(_: Zone, { zones }: Group): ZoneOutcome | undefined {
  const other = zones.find((zone) => zone.set.spec.updateStrategy !== 'OnDelete');
  if (other === undefined) return undefined;
  const message =
    `StatefulSet "${other.set.name}" has spec.updateStrategy.type "${other.set.spec.updateStrategy}"${strategyWriterText(other.set)}, ` +
    'and every set of a rollout group must have "OnDelete"; no pod of the group is touched';
  return fail(hold(other, 'WrongUpdateStrategy', message));
}

/** Holds a set whose pods are not looked at: it is unknown whether they are available (D-56). */
function setTooLarge(_: Zone, { zones }: Group): ZoneOutcome | undefined {
  const large = zones.find((zone) => isTooLarge(zone.set));
  if (large === undefined) return undefined;
  const { spec, status, name } = large.set;
  const message =
    `StatefulSet "${name}" has ${Math.max(spec.replicas, status.replicas)} replicas, ` +
    `and no set of more than ${largestSet} is handled; no pod of the group is touched`;
  return stop(hold(large, 'SetTooLarge', message));
}

/** Holds each zone where two lack pods: none loses another one that serves (RC-25). */
function twoZonesUnavailable(_: Zone, { zones }: Group): ZoneOutcome | undefined {
  const unavailable = zones.filter((zone) => zone.unavailable.length > 0);
  const [first, second] = unavailable;
  if (first === undefined || second === undefined) return undefined;
  const texts = unavailable.map((zone) => `${zone.set.name}: ${describeUnavailable(zone)}`);
  const message = `${unavailable.length} zones have unavailable pods, so none may lose another: ${texts.join('; ')}`;
  return stop(hold(first, 'MultipleZonesUnavailable', message));
}

/** Holds a zone that something else names; while it is unavailable, it holds the others back too. */
function conflicting(zone: Zone): ZoneOutcome | undefined {
  if (zone.conflicts.length === 0) return undefined;
  return zone.unavailable.length > 0
    ? wait(holdUnavailable(zone))
    : { kind: 'done', decisions: [] };
}

/** Holds a paused zone; while it is unavailable, it holds the others back too (KW-3). */
function paused(zone: Zone): ZoneOutcome | undefined {
  if (!zone.isPaused) return undefined;
  if (zone.unavailable.length > 0) {
    const message = `${zone.set.name} is paused and has unavailable pods: ${describeUnavailable(zone)}`;
    return wait(hold(zone, 'PausedZoneUnavailable', message));
  }
  if (zone.outdated.length === 0) return { kind: 'done', decisions: [] };
  const message = `${zone.set.name} is paused with ${zone.outdated.length} outdated pods`;
  return { kind: 'done', decisions: [hold(zone, 'Paused', message)] };
}

/** Holds a set that is being deleted: it needs no new revision; its pods' going still counts (RC-E12). */
function beingDeleted(zone: Zone): ZoneOutcome | undefined {
  if (!zone.set.isDeleting) return undefined;
  return zone.unavailable.length > 0
    ? wait(holdUnavailable(zone))
    : { kind: 'done', decisions: [] };
}

/** Holds a zone whose status has no revisions (RC-41); one that is yet to be written, as of a new set, is awaited. */
function revisionMissing(zone: Zone): ZoneOutcome | undefined {
  const { currentRevision, observedGeneration, updateRevision } = zone.set.status;
  if (observedGeneration < zone.set.generation) return undefined;
  const missing = [
    ...(currentRevision === '' ? ['status.currentRevision'] : []),
    ...(updateRevision === '' ? ['status.updateRevision'] : []),
  ];
  if (missing[0] === undefined) return undefined;
  const message = `StatefulSet "${zone.set.name}" has no ${missing[0]}`;
  return fail(hold(zone, 'RevisionMissing', message));
}

/** Holds a zone until the controller has seen its newest spec: before, it is unknown which pods are outdated. */
function revisionUnknown(zone: Zone): ZoneOutcome | undefined {
  if (zone.target !== undefined) return undefined;
  const { name, generation, status } = zone.set;
  const message = `${name} is at generation ${generation}, and its controller has observed ${status.observedGeneration} only`;
  return wait(hold(zone, 'RevisionUnknown', message));
}

/** Holds a zone whose pods would not be made again: whatever they run, they are better than none. */
function revisionUnusable(zone: Zone): ZoneOutcome | undefined {
  const why = zone.outdated.length > 0 ? unusableRevision(zone.set) : undefined;
  return why === undefined ? undefined : wait(hold(zone, 'RevisionUnusable', why));
}

/** Awaits the last pods of a zone before the next zone begins (RC-60). */
function upToDateButUnavailable(zone: Zone): ZoneOutcome | undefined {
  const isWaiting = zone.outdated.length === 0 && zone.unavailable.length > 0;
  return isWaiting ? wait(holdUnavailable(zone)) : undefined;
}

/** Lets a zone that is done say so in its status (RC-61, RC-62). */
function upToDate(zone: Zone): ZoneOutcome | undefined {
  if (zone.outdated.length > 0) return undefined;
  const { currentRevision: from, updateRevision: to } = zone.set.status;
  if (from === to) return { kind: 'done', decisions: [] };
  const message = `all ${zone.slots.length} pods of ${zone.set.name} run ${to} and are available`;
  const why = because('ZoneUpdated', message);
  return {
    kind: 'done',
    decisions: [{ kind: 'set-current-revision', set: zone.ref, from, to, because: why }],
  };
}

/** Awaits outdated pods none of which serves: they come back, or are replaced once they are stuck. */
function nothingAvailable(zone: Zone): ZoneOutcome | undefined {
  const isServing = zone.outdated.some((slot) => slot.kind === 'available');
  return isServing ? undefined : wait(holdUnavailable(zone));
}

/** Holds a zone at its limit, whatever made its pods unavailable (RC-46). */
function limitReached(zone: Zone): ZoneOutcome | undefined {
  const { unavailable, limit, outdated, set } = zone;
  if (unavailable.length < limit) return undefined;
  const message =
    `${unavailable.length} of at most ${limit} pods of ${set.name} are unavailable, ` +
    `${outdated.length} are outdated; waiting for ${describeUnavailable(zone)}`;
  return wait(hold(zone, 'MaxUnavailableReached', message));
}

function holdUnavailable(zone: Zone): Decision {
  const settled = settledAt(zone.unavailable);
  const message = `${zone.set.name} has unavailable pods: ${describeUnavailable(zone)}`;
  return settled === undefined
    ? hold(zone, 'ZoneNotReady', message)
    : { ...hold(zone, 'ZoneSettling', message), kind: 'hold', set: zone.ref, until: settled };
}
