/** Points in the life of a leader at which tests strike it, and how they do. */
import { objectsAt, textAt } from '#cluster/json/read-json.ts';
import type { WriteMoment } from '../../real-cluster/late-proxy.ts';
import type { Change } from '../../scenarios/env.ts';
import { setName } from '../../scenarios/group.ts';

/** What can be seen of the leader from outside. */
export type Sight =
  | {
      readonly kind: 'write';
      /** Method and path. */
      readonly line: string;
      readonly moment: WriteMoment;
      readonly body: string;
    }
  | { readonly kind: 'review'; readonly moment: 'asked' | 'answered' }
  | { readonly kind: 'commit'; readonly change: Change };

/** A point at which a leader is struck. */
export interface LeaderPoint {
  /** What it is doing. */
  readonly what: string;
  readonly isAt: (sight: Sight) => boolean;
}

const ledger = /\/configmaps(?:\/rollout-operator-ledger-[^/]+)?$/;

/** Reservations in a ledger by the names of their pods, as a write has them that gives them to `by`. */
function reserves(sight: Sight, by: 'rollout' | 'eviction', moment: WriteMoment): boolean {
  if (sight.kind !== 'write' || sight.moment !== moment || !ledger.test(sight.line)) return false;
  return sight.body.includes(`\\"by\\":\\"${by}\\"`);
}

function writes(sight: Sight, line: RegExp, moment: WriteMoment): boolean {
  return sight.kind === 'write' && sight.moment === moment && line.test(sight.line);
}

const deletion = /^DELETE .*\/pods\//;
const renewal = /^PUT .*\/leases\//;

/** Whether a pod of the group has just become `state`. */
function isPod(sight: Sight, state: 'leaving' | 'ready'): boolean {
  if (sight.kind !== 'commit' || sight.change.resource !== 'pods') return false;
  const { name, after } = sight.change;
  if (after === undefined || !name.startsWith(setName(''))) return false;
  if (textAt(after, 'metadata', 'deletionTimestamp') !== '') return state === 'leaving';
  const isReady = objectsAt(after, 'status', 'conditions').some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );
  return state === 'ready' && isReady;
}

/** The twelve of a drain in mid-rollout under a budget. */
export const leaderPoints: readonly LeaderPoint[] = [
  {
    what: 'when it has sent a reservation for the rollout',
    isAt: (sight) => reserves(sight, 'rollout', 'sent'),
  },
  {
    what: 'before it hears that a reservation for the rollout is stored',
    isAt: (sight) => reserves(sight, 'rollout', 'answered'),
  },
  { what: 'when it has sent a deletion', isAt: (sight) => writes(sight, deletion, 'sent') },
  {
    what: 'before it hears that its deletion is answered',
    isAt: (sight) => writes(sight, deletion, 'answered'),
  },
  {
    what: 'when it has sent a reservation for an eviction',
    isAt: (sight) => reserves(sight, 'eviction', 'sent'),
  },
  {
    what: 'when a permission is stored, before its answer leaves',
    isAt: (sight) => reserves(sight, 'eviction', 'answered'),
  },
  {
    what: 'when a review comes to it',
    isAt: (sight) => sight.kind === 'review' && sight.moment === 'asked',
  },
  {
    what: 'when an answer to a review leaves it',
    isAt: (sight) => sight.kind === 'review' && sight.moment === 'answered',
  },
  {
    what: 'when it has sent the renewal of its Lease',
    isAt: (sight) => writes(sight, renewal, 'sent'),
  },
  {
    what: 'before it hears that its Lease is renewed',
    isAt: (sight) => writes(sight, renewal, 'answered'),
  },
  { what: 'when a pod begins to leave', isAt: (sight) => isPod(sight, 'leaving') },
  {
    what: 'when a successor is ready, and another zone may go',
    isAt: (sight) => isPod(sight, 'ready'),
  },
];
