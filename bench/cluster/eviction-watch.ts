import type { JsonObject } from '#base/json.ts';
import type { Call, Commit } from '#cluster/event-log.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { ledgerPrefix } from '#support/history/ledger-facts.ts';
import type { EvictionSight } from './eviction-commands.ts';
import { GroupWatch, isUp } from './group-watch.ts';
import { operatorUser, type SetName } from './workload.ts';

/** Watches, at each commit, what evictions do to pods, and what is written down of them. */
export class EvictionWatch {
  readonly #pods: GroupWatch;
  readonly #sets: readonly SetName[];
  /** Uids of reservations that ledgers have had. */
  readonly #reserved = new Set<string>();
  /** Names of pods that have a reservation now, by ledger. */
  readonly #held = new Map<string, ReadonlySet<string>>();
  /** Called with each pod that is up. */
  readonly #waiting = new Map<string, (uid: string) => void>();
  /** Writes since the last that gave something away: in all, and those that took out what has ended. */
  #since = { tried: 0, releases: 0 };
  #releases = 0;
  #writes = 0;
  #rounds = 0;
  #isCounted = false;

  constructor(
    monotonic: () => number,
    {
      sets,
      podsPerSet,
      pods,
    }: {
      readonly sets: readonly SetName[];
      readonly podsPerSet: number;
      readonly pods: readonly (readonly [name: string, pod: JsonObject])[];
    },
  ) {
    this.#pods = new GroupWatch(monotonic);
    this.#sets = sets;
    for (const set of sets) this.#pods.add(set, podsPerSet);
    for (const [name, after] of pods) {
      this.#pods.committed({ resource: 'pods', name, after });
    }
    this.begin();
  }

  /** Forgets what was seen. */
  begin(): void {
    this.#pods.begin(
      '',
      this.#sets.map(({ name }) => name),
    );
    this.#reserved.clear();
    this.#since = { tried: 0, releases: 0 };
    [this.#writes, this.#releases, this.#rounds] = [0, 0, 0];
  }

  committed(commit: Commit): void {
    const { resource, name, after } = commit;
    if (resource === 'pods') {
      this.#pods.committed(commit);
      if (isUp(after)) this.#waiting.get(name)?.(textAt(after, 'metadata', 'uid'));
      return;
    }
    if (resource !== 'configmaps' || !name.startsWith(ledgerPrefix)) return;
    this.#held.set(name, membersIn(after, /"pod":"([^"]*)"/gu));
    if (this.#isRound(commit)) this.#given();
    else if (this.#rounds > 0) this.#since.releases += 1;
  }

  called({ user, verb, resource, name }: Call): void {
    if (user !== operatorUser || resource !== 'configmaps') return;
    if (!/^(?:create|update|patch)$/.test(verb) || !name.startsWith(ledgerPrefix)) return;
    // The call is reported after its commit: a write that gave something away has been counted there.
    if (this.#isCounted) this.#isCounted = false;
    else if (this.#rounds > 0) this.#since.tried += 1;
  }

  /** Resolves once pod `name` is up under another uid than `uid`. */
  replaced({ name, uid }: { readonly name: string; readonly uid: string }): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.set(name, (now) => {
        if (now === uid) return;
        this.#waiting.delete(name);
        resolve();
      });
    });
  }

  /** Whether a ledger has had a reservation of the pod `uid`. */
  hasReserved(uid: string): boolean {
    return this.#reserved.has(uid);
  }

  /** Whether a ledger has a reservation now of any pod named `name`, so that its place counts as given away. */
  isHeld(name: string): boolean {
    return [...this.#held.values()].some((names) => names.has(name));
  }

  seen(): EvictionSight {
    const { zonesDown, podsDown } = this.#pods.observation();
    const [writes, releases, rounds] = [this.#writes, this.#releases, this.#rounds];
    return { zonesDown, podsDown, writes, releases, rounds };
  }

  #given(): void {
    this.#isCounted = true;
    this.#rounds += 1;
    this.#writes += this.#since.tried + 1;
    this.#releases += this.#since.releases;
    this.#since = { tried: 0, releases: 0 };
  }

  #isRound({ before, after }: Commit): boolean {
    const had = uidsIn(before);
    const given = [...uidsIn(after)].filter((uid) => !had.has(uid));
    for (const uid of given) this.#reserved.add(uid);
    return given.length > 0;
  }
}

function uidsIn(map: JsonObject | undefined): ReadonlySet<string> {
  return membersIn(map, /^\{"uid":"([^"]*)"/gmu);
}

function membersIn(map: JsonObject | undefined, pattern: RegExp): ReadonlySet<string> {
  const text = textAt(map, 'data', 'reservations');
  return new Set([...text.matchAll(pattern)].map(([, member = '']) => member));
}
