import { errorOf } from '#base/error-of.ts';
import { type Millis, millis } from '#base/units.ts';
import {
  ConsulWatch,
  type FollowedQuestion,
  type ServiceSight,
  type WatchPorts,
} from './consul-watch.ts';

interface Followed {
  readonly watch: ConsulWatch;
  readonly followers: Set<string>;
  readonly ending: AbortController;
  readonly running: Promise<void>;
}

/** Settings of {@link ConsulWatches}. */
export interface ConsulWatchesPorts extends WatchPorts {
  /** Wakes a resource, as what is known of a service that it follows is another thing than before. */
  readonly onChange: (key: string) => void;
}

/** Services that resources follow: each is watched once for all of them, and only while one of them follows it (CONSUL-15). */
export class ConsulWatches {
  readonly #ports: ConsulWatchesPorts;
  readonly #followed = new Map<string, Followed>();
  /** Keys of what each resource follows. */
  readonly #wishes = new Map<string, ReadonlySet<string>>();
  readonly #ending = new Set<Promise<void>>();
  #isClosed = false;

  constructor(ports: ConsulWatchesPorts) {
    this.#ports = ports;
  }

  /** Counts the services that are watched. */
  get size(): number {
    return this.#followed.size;
  }

  /** Returns the longest time for which Consul has not reported a watched service; undefined where none is watched. */
  get oldestAge(): Millis | undefined {
    const ages = [...this.#followed.values()].map(({ watch }) => watch.age);
    return ages.length === 0 ? undefined : millis(Math.max(...ages));
  }

  /** Watches `questions` for the resource `key`, and nothing else any more. */
  follow(key: string, questions: readonly FollowedQuestion[]): void {
    if (this.#isClosed) return;
    const wish = new Set(questions.map(keyOf));
    for (const question of questions) this.#begin(question).add(key);
    for (const former of this.#wishes.get(key) ?? []) {
      if (!wish.has(former)) this.#leave(key, former);
    }
    this.#wishes.set(key, wish);
  }

  /** Watches nothing for the resource `key` any more. */
  forget(key: string): void {
    const wish = this.#wishes.get(key);
    if (wish === undefined) return;
    this.#wishes.delete(key);
    for (const former of wish) this.#leave(key, former);
  }

  /** Returns what is known now of the services of `question`. */
  sight(question: FollowedQuestion): ServiceSight {
    return this.#followed.get(keyOf(question))?.watch.sight() ?? { kind: 'awaited' };
  }

  /** Ends all watches. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const key of this.#wishes.keys()) this.forget(key);
    await Promise.all(this.#ending);
  }

  #begin(question: FollowedQuestion): Set<string> {
    const name = keyOf(question);
    const known = this.#followed.get(name);
    if (known !== undefined) return known.followers;
    const { log, onChange } = this.#ports;
    const followers = new Set<string>();
    const ending = new AbortController();
    const watch = new ConsulWatch(question, this.#ports, () => followers.forEach(onChange));
    const running = watch.run(ending.signal).catch((error: unknown) => {
      log.error('a watch of consul ended with a fault of this program', { err: errorOf(error) });
    });
    this.#followed.set(name, { watch, followers, ending, running });
    return followers;
  }

  #leave(key: string, name: string): void {
    const followed = this.#followed.get(name);
    if (followed === undefined) return;
    followed.followers.delete(key);
    if (followed.followers.size > 0) return;
    this.#followed.delete(name);
    followed.ending.abort();
    const ended = followed.running.finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }
}

function keyOf({ service, datacenter, namespace, partition, token }: FollowedQuestion): string {
  const { namespace: of, name, key } = token ?? {};
  const parts = [service, datacenter, namespace, partition, of, name, key];
  return JSON.stringify(parts.map((each) => each ?? null));
}
