/**
 * The certificate of the webhooks: made, renewed before it expires, shared by all replicas in a Secret, and its CA written
 * where the API server looks. The room serves nothing; a listener is called at each change.
 */
import type { Because } from '#base/because.ts';
import { after, type Instant, instant } from '#base/units.ts';
import type { Authority, Leaf, SecretContent, SecretState } from './api.ts';
import { isUsable, lifecycle, longestPoll } from './plan-lifecycle.ts';
import {
  authoritiesInUse,
  type ContentToStore,
  covers,
  keptAuthorities,
  planMissingContent,
  planStore,
} from './plan-store.ts';

/** What the webhook configurations are known to trust. */
export type Publication =
  /** They are not ours to write: their writer takes the CAs from the Secret. */
  | { readonly kind: 'unmanaged' }
  /** By id of a CA: since when every labelled configuration has carried it, as far as we have seen. */
  | { readonly kind: 'managed'; readonly since: ReadonlyMap<string, Instant> };

/** All that one decision about the certificate rests on. */
export interface Snapshot {
  readonly secret: SecretState;
  /** What this process serves now. */
  readonly served: Leaf | undefined;
  /** The CAs that the last valid Secret named. */
  readonly remembered: readonly Authority[];
  readonly publication: Publication;
  /** The name that clients call us by. */
  readonly dnsName: string;
}

/** Why the served certificate is not the one that the Secret wants served. */
export type WaitReason =
  /** The Secret cannot be used. */
  | 'SecretRefused'
  /** A labelled webhook configuration does not trust the new CA yet. */
  | 'CaNotPublished';

/** What to do about the certificate now. */
export interface Plan {
  /** What to serve from now on; undefined while there is nothing. */
  readonly serve: Leaf | undefined;
  /** What the Secret is to hold; undefined: what it holds. */
  readonly store: ContentToStore | undefined;
  /** The CAs that webhook configurations must carry, each once. */
  readonly authorities: readonly Authority[];
  readonly waiting: Because<WaitReason> | undefined;
  /** When to look at the latest, without any change. */
  readonly lookAgain: Instant;
}

/** Decides what to serve, to store and to publish at `now`. */
export function plan(snapshot: Snapshot, now: Instant): Plan {
  const { secret } = snapshot;
  switch (secret.kind) {
    case 'absent':
    case 'empty': {
      const asBefore = unchanged(snapshot, now);
      return { ...asBefore, store: planMissingContent(snapshot, asBefore.authorities, now) };
    }
    case 'refused': {
      const waiting = { reason: 'SecretRefused', message: secret.message } as const;
      return { ...unchanged(snapshot, now), waiting };
    }
    default:
      return planContent(secret.content, snapshot, now);
  }
}

/** Keeps serving what is served; CAs that clients trusted stay trusted. */
function unchanged({ served, remembered }: Snapshot, now: Instant): Plan {
  const own = served === undefined ? [] : [served.authority];
  return {
    serve: served,
    store: undefined,
    authorities: keptAuthorities([...own, ...remembered], now),
    waiting: undefined,
    lookAgain: after(now, served === undefined ? longestPoll : lifecycle(served).poll),
  };
}

function planContent(content: SecretContent, snapshot: Snapshot, now: Instant): Plan {
  const { current, next } = content;
  const due = next !== undefined && isDue(content, snapshot, now) ? next.leaf : current;
  const wanted = isUsable(due, now) ? due : (snapshot.served ?? due);
  const gate = gateOf(wanted, { ...snapshot, current }, now);
  const serve = gate.isOpen ? wanted : (snapshot.served ?? current);
  return {
    serve,
    store: planStore(content, { ...snapshot, served: serve }, now),
    authorities: keptAuthorities(
      [...authoritiesInUse(content, serve), ...content.authorities],
      now,
    ),
    waiting: gate.isOpen ? undefined : notPublished,
    lookAgain: nextLook([current, serve], [next?.from, gate.opensAt], now),
  };
}

const notPublished: Because<'CaNotPublished'> = Object.freeze({
  reason: 'CaNotPublished',
  message:
    'a labelled webhook configuration does not carry the new CA yet, so the old certificate is served',
});

/** Reports whether the next certificate is to be served: its time has come, or the current one is of no use. */
function isDue({ current, next }: SecretContent, snapshot: Snapshot, now: Instant): boolean {
  if (next === undefined || !isUsable(next.leaf, now)) return false;
  if (!isUsable(current, now)) return true;
  const replacesName = !covers(current, snapshot.dnsName) && covers(next.leaf, snapshot.dnsName);
  return now >= next.from || now >= lifecycle(current).latestSwitch || replacesName;
}

interface Gate {
  readonly isOpen: boolean;
  /** When it opens without further change. */
  readonly opensAt?: Instant;
}

/** Reports whether `wanted` may take the place of what is served: not while a client may trust only the latter. */
function gateOf(
  wanted: Leaf,
  { served, publication, current }: Snapshot & { readonly current: Leaf },
  now: Instant,
): Gate {
  const before = served ?? current;
  if (wanted.id === before.id || publication.kind === 'unmanaged') return { isOpen: true };
  if (!isUsable(before, now) || now >= lifecycle(before).latestSwitch) return { isOpen: true };
  const since = publication.since.get(wanted.authority.id);
  if (since === undefined) return { isOpen: false };
  const opensAt = after(since, lifecycle(wanted).settle);
  return { isOpen: now >= opensAt, opensAt };
}

/** Returns the next instant of any of `leaves`, or of `moments`, and not later than the next poll. */
function nextLook(
  leaves: readonly Leaf[],
  moments: readonly (Instant | undefined)[],
  now: Instant,
): Instant {
  const lives = leaves.map(lifecycle);
  const ahead = [
    ...moments,
    ...leaves.map(({ notAfter }) => notAfter),
    ...lives.flatMap(({ renewAt, latestSwitch }) => [renewAt, latestSwitch]),
  ].filter((moment) => moment !== undefined && moment > now);
  const polls = lives.map(({ poll }) => after(now, poll));
  return instant(Math.min(...polls, ...ahead.filter((moment) => moment !== undefined)));
}
