import type { Millis } from '#base/units.ts';
import type { AccessAttributes } from './auth/authorizer.ts';
import type { SeededRandom } from './seeded-random.ts';
import { LiveWatches } from './watch/live-watches.ts';
import type { WatchSession } from './watch/watch-session.ts';

/** Which requests a fault is about; what is absent matches everything (FI-1). */
export interface FaultMatch {
  readonly user?: string;
  readonly client?: string;
  readonly verb?: string | readonly string[];
  readonly group?: string;
  /** Plural. */
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  /** A name in which `*` stands for any text. */
  readonly name?: string;
}

/** Before the request has an effect, or after, when only the answer is lost (FI-2). */
export type FaultMoment = 'before' | 'after';

/** What a fault does (FI-2, FI-3). */
export type FaultAction =
  | {
      readonly kind: 'error';
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
      readonly when?: FaultMoment;
    }
  | { readonly kind: 'delay'; readonly delay: Millis; readonly when?: FaultMoment }
  | { readonly kind: 'drop'; readonly when?: FaultMoment }
  /** Executed twice, the second answer is sent. */
  | { readonly kind: 'duplicate' }
  /** GET and LIST read an old state. */
  | { readonly kind: 'stale'; readonly revision?: number; readonly age?: Millis }
  | { readonly kind: 'throttle'; readonly retryAfterSeconds: number }
  /** Another write to the object comes just before. */
  | { readonly kind: 'conflict' }
  | {
      readonly kind: 'watch';
      readonly action: WatchAction;
    };

/** What happens to a watch when it is opened; for watches that are open see {@link Faults.watches}. */
export type WatchAction =
  | 'break'
  | 'end'
  | 'expire'
  | 'expireHttp'
  | 'pause'
  | 'noBookmarks'
  | 'split'
  | 'skip'
  | 'garbage'
  | { readonly delay: Millis };

/** A fault and when it strikes. */
export interface FaultRule {
  /** Names the rule in the log of hits. */
  readonly name?: string;
  readonly match: FaultMatch;
  /** Strikes at this matching request only, the first being 1. */
  readonly nth?: number;
  /** Strikes at most this often. @default always */
  readonly count?: number;
  /** Strikes with this probability. @default 1 */
  readonly probability?: number;
  readonly action: FaultAction;
}

/** One stroke of a rule. */
export interface FaultHit {
  readonly rule: FaultRule;
  readonly callId: number;
  readonly client: string;
  readonly verb: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** A request as faults see it. */
export interface FaultTarget extends AccessAttributes {
  readonly client: string;
  readonly callId: number;
}

interface ArmedRule {
  readonly rule: FaultRule;
  seen: number;
  hits: number;
}

interface WriteHook {
  readonly match: FaultMatch;
  readonly nth: number;
  readonly moment: FaultMoment;
  readonly callback: (target: FaultTarget) => void;
  seen: number;
}

function globMatches(pattern: string, text: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(text);
}

const EXACT_MEMBERS = ['client', 'group', 'resource', 'subresource', 'namespace'] as const;

/** Reports whether `match` is about `target`. */
function faultMatches(match: FaultMatch, target: FaultTarget): boolean {
  if (match.user !== undefined && match.user !== target.user.name) return false;
  if (match.verb !== undefined && ![match.verb].flat().includes(target.verb)) return false;
  if (match.name !== undefined && !globMatches(match.name, target.name)) return false;
  return EXACT_MEMBERS.every((member) => {
    const wanted = match[member];
    return wanted === undefined || wanted === target[member];
  });
}

/** The faults of one cluster: ordered rules, crash hooks, lagging clients, and the handles of open watches. */
export class Faults {
  /** Every stroke, in order. */
  readonly hits: FaultHit[] = [];
  /** Called with each stroke. */
  readonly onHit = new Set<(hit: FaultHit) => void>();
  readonly live = new LiveWatches();
  readonly #random: SeededRandom;
  readonly #rules: ArmedRule[] = [];
  readonly #hooks: WriteHook[] = [];
  readonly #views = new Map<string, number>();
  readonly #compact: (revision?: number) => void;

  constructor(random: SeededRandom, compact: (revision?: number) => void) {
    this.#random = random;
    this.#compact = compact;
  }

  /** Arms `rule` behind the others; the first that strikes wins. @returns a function that disarms it */
  add(rule: FaultRule): () => void {
    const armed = { rule, seen: 0, hits: 0 };
    this.#rules.push(armed);
    return () => {
      const at = this.#rules.indexOf(armed);
      if (at >= 0) this.#rules.splice(at, 1);
    };
  }

  /** Disarms all rules and hooks and lets all clients see the present. */
  clear(): void {
    this.#rules.length = 0;
    this.#hooks.length = 0;
    for (const client of this.#views.keys()) this.#release(client);
  }

  /** Calls `callback` when the `nth` (from 1) matching write has arrived and has had no effect yet (FI-4). */
  beforeWrite(match: FaultMatch, nth: number, callback: (target: FaultTarget) => void): void {
    this.#hooks.push({ match, nth, moment: 'before', callback, seen: 0 });
  }

  /** Calls `callback` when the `nth` (from 1) matching write took effect and is not answered yet (FI-4). */
  afterWrite(match: FaultMatch, nth: number, callback: (target: FaultTarget) => void): void {
    this.#hooks.push({ match, nth, moment: 'after', callback, seen: 0 });
  }

  /** Serves all reads and new watches of `client` from `revision` until released (FI-5). */
  rewind(client: string, revision: number): () => void {
    this.#views.set(client, revision);
    return () => this.#release(client);
  }

  /** Forgets the watch log up to `revision`. @default all of it */
  compact(revision?: number): void {
    this.#compact(revision);
  }

  /** Returns the open watches; each can be paused, resumed, ended, broken, expired and so on. */
  watches(
    match: { readonly client?: string; readonly user?: string; readonly resource?: string } = {},
  ): readonly WatchSession[] {
    return this.live.find(match);
  }

  /** Returns where the reads of `client` are held; undefined for the present. */
  viewOf(client: string): number | undefined {
    return this.#views.get(client);
  }

  /** Returns the action that strikes `target`, if any; counts and logs it. */
  strike(target: FaultTarget): FaultAction | undefined {
    for (const armed of this.#rules) {
      if (!faultMatches(armed.rule.match, target) || !this.#isDue(armed)) continue;
      armed.hits += 1;
      const { callId, client, verb, resource, namespace, name } = target;
      const hit = { rule: armed.rule, callId, client, verb, resource, namespace, name };
      this.hits.push(hit);
      for (const told of this.onHit) told(hit);
      return armed.rule.action;
    }
    return undefined;
  }

  /** Calls the hooks that are due for a write. */
  hook(moment: FaultMoment, target: FaultTarget): void {
    for (const hook of this.#hooks) {
      if (hook.moment !== moment || !faultMatches(hook.match, target)) continue;
      hook.seen += 1;
      if (hook.seen === hook.nth) hook.callback(target);
    }
  }

  #isDue(armed: ArmedRule): boolean {
    const { nth, count, probability } = armed.rule;
    armed.seen += 1;
    if (nth !== undefined && armed.seen !== nth) return false;
    if (count !== undefined && armed.hits >= count) return false;
    return probability === undefined || this.#random.fraction() < probability;
  }

  #release(client: string): void {
    this.#views.delete(client);
    for (const session of this.live.find({ client })) session.resume();
  }
}
