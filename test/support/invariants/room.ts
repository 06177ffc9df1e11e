/** What a finding says of the slots that a request had no room next to: why each counts, and what the server had by then. */
import { type Instant, instant } from '#base/units.ts';
import { isAvailable, ordinalIn, type PodFacts, type SetFacts } from '../history/facts.ts';
import { type History, type View, viewAt } from '../history/history.ts';
import { viewOf } from '../history/statement.ts';
import type { Sent } from './sent.ts';

/** What a request is judged by. */
export interface Room {
  readonly history: History;
  readonly sent: Sent;
  /** What its client had been shown in time, and what it says that it had seen. */
  readonly view: View;
  /** Requests of the same client that may still take their pods, as far as `view` shows. */
  readonly open: readonly Sent[];
}

/**
 * Returns the lines, each after a line break, that say what a finding about `slots` of `set` rests on: as of when it is
 * judged, and each slot with why it counts. Times are those before and after the request left.
 */
export function groundsText(set: SetFacts, slots: Iterable<number>, room: Room): string {
  const ordinals = [...slots].sort((one, other) => one - other);
  const lines = [momentText(room), ...ordinals.map((ordinal) => slotText(set, ordinal, room))];
  return lines.map((line) => `\n    ${line}`).join('');
}

/** Returns when the request left that `each` is, when it reached the server, and what became of it, as seen from `sent`. */
export function requestText({ call, statement }: Sent, { sent }: Pick<Room, 'sent'>): string {
  const { sentAt } = sent.statement;
  const left = `left ${distance(statement.sentAt, sentAt)}`;
  const received = `was received ${distance(call.startedAt, sentAt)}`;
  const outcome = typeof call.outcome === 'number' ? `answered ${call.outcome}` : call.outcome;
  return `the request (call ${call.callId}) ${left}, ${received}, was ${outcome} ${distance(call.endedAt, sentAt)}`;
}

function momentText({ history, sent, view }: Room): string {
  const { call, statement } = sent;
  const set = call.name.slice(0, Math.max(0, call.name.lastIndexOf('-')));
  const revisionsOf = (each: View): string =>
    `pods at revision ${each.pods(set, call.name)} and sets at ${each.sets(set)}`;
  const stored = history.revisionAt(statement.sentAt);
  return `it left at ${new Date(statement.sentAt).toISOString()} on ${revisionsOf(viewOf(statement))}; it is judged by ${revisionsOf(view)}; the server had ${stored}`;
}

function slotText(set: SetFacts, ordinal: number, room: Room): string {
  const { history, sent, view, open } = room;
  const { sentAt } = sent.statement;
  const shown = slotState(set, ordinal, { history, view });
  const asking = open.filter(({ call }) => ordinalIn(call.name, set.name) === ordinal);
  const stored = slotState(set, ordinal, {
    history,
    view: viewAt(history.revisionAt(sentAt), sentAt),
  });
  const parts = [
    ...(sent.call.name === `${set.name}-${ordinal}` ? ['this request'] : []),
    ...asking.map((each) => requestText(each, room)),
    stateText(shown, sentAt),
    ...(stored.revision === shown.revision ? [] : [`at the server ${stateText(stored, sentAt)}`]),
  ];
  return `${set.name}-${ordinal}: ${parts.join('; ')}`;
}

interface SlotState {
  readonly kind: 'missing' | 'terminating' | 'available' | 'unavailable';
  /** Since when it has been so, and the revision that made it so; undefined where nothing was ever there. */
  readonly since: Instant | undefined;
  readonly revision: number;
}

function slotState(
  set: SetFacts,
  ordinal: number,
  { history, view }: { readonly history: History; readonly view: View },
): SlotState {
  const pod = { namespace: set.namespace, name: `${set.name}-${ordinal}` };
  const revision = view.pods(set.name, pod.name);
  let found: SlotState | undefined;
  for (const version of history.podVersions(pod, { revision, since: instant(0) })) {
    const kind = kindOf(version.value, set, view.now);
    if (found !== undefined && found.kind !== kind) break;
    found = { kind, since: version.from, revision: version.revision };
  }
  return found ?? { kind: 'missing', since: undefined, revision: 0 };
}

function kindOf(pod: PodFacts | undefined, set: SetFacts, now: Instant): SlotState['kind'] {
  if (pod === undefined) return 'missing';
  if (pod.isTerminating) return 'terminating';
  return isAvailable(pod, set, now) ? 'available' : 'unavailable';
}

function stateText({ kind, since, revision }: SlotState, sentAt: Instant): string {
  if (since === undefined) return `${kind} from the beginning`;
  return `${kind} since ${distance(since, sentAt)} (revision ${revision})`;
}

function distance(at: Instant, sentAt: Instant): string {
  return at > sentAt ? `${at - sentAt} ms after` : `${sentAt - at} ms before`;
}
