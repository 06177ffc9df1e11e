import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  RefusedError,
  ScriptedClient,
  type ScriptedWatch,
} from '#support/api-server/scripted-client.ts';
import { WatchServer } from '#support/api-server/watch-server.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import type { KubernetesObject } from '../object.ts';
import { resourceTypes } from '../resource-type.ts';
import { compareRevisions } from '../revision.ts';
import type { Cached, Change, Informer } from './informer.ts';
import { createInformer } from './shared-informer.ts';

/** One thing that happens to the server or to its newest watch. */
type Step =
  | { readonly kind: 'put' | 'remove' | 'recreate'; readonly name: string }
  | { readonly kind: 'advance'; readonly span: number }
  | { readonly kind: 'refuse'; readonly status: number }
  | { readonly kind: 'split'; readonly at: number; readonly name: string }
  | {
      readonly kind:
        | 'break'
        | 'end'
        | 'half-line'
        | 'garbage'
        | 'stall'
        | 'expire'
        | 'error-500'
        | 'compact'
        | 'bookmark'
        | 'duplicates'
        | 'no-streaming'
        | 'streaming';
    };

const name = fc.constantFrom('a', 'b', 'c', 'd');
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('put', 'remove', 'recreate'), name }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('advance'), span: fc.nat(3_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('advance'), span: fc.nat(200_000) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('refuse'),
      status: fc.constantFrom(403, 410, 422, 429, 500, 503),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('split'), at: fc.nat(150), name }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'break',
        'end',
        'half-line',
        'garbage',
        'stall',
        'expire',
        'error-500',
        'compact',
        'bookmark',
        'duplicates',
        'no-streaming',
        'streaming',
      ),
    }),
  },
);

/** An informer, its server, and a record of what the handlers were called with. */
class Run {
  readonly clock = new FakeClock();
  readonly server = new WatchServer();
  readonly informer: Informer<Cached>;
  readonly stop = new AbortController();
  readonly #ended: Promise<void>;
  readonly #newest = new Map<string, string>();
  readonly #mirror = new Map<string, string>();
  readonly #sent: { type: string; object: KubernetesObject }[] = [];
  #writes = 0;

  constructor() {
    this.informer = createInformer<Cached>({
      client: new ScriptedClient(this.server),
      clock: this.clock,
      type: resourceTypes.pods,
      project: ({ metadata: { name, namespace = '', uid, resourceVersion } }) => {
        return { name, namespace, uid, resourceVersion };
      },
      indexers: { all: () => ['x'] },
      report: () => undefined,
    });
    this.informer.onChange((change) => this.hear(change));
    this.#ended = this.informer.run(this.stop.signal);
  }

  /** Keeps what the handlers can know, and refuses an older revision after a newer. */
  hear({ kind, object }: Change<Cached>): void {
    const newest = this.#newest.get(object.name);
    if (kind === 'deleted') {
      this.#mirror.delete(object.name);
      return;
    }
    assert.ok(
      newest === undefined || compareRevisions(object.resourceVersion, newest) > 0,
      `${object.name} went from revision ${newest ?? 'none'} to ${object.resourceVersion}`,
    );
    this.#newest.set(object.name, object.resourceVersion);
    this.#mirror.set(object.name, object.resourceVersion);
  }

  async step(step: Step): Promise<void> {
    switch (step.kind) {
      case 'put':
      case 'remove':
      case 'recreate':
        this.write(step);
        break;
      case 'advance':
        await this.clock.advance(step.span);
        break;
      case 'refuse':
        this.server.refusals.push(new RefusedError(step.status));
        break;
      case 'split':
        this.split(step);
        break;
      default:
        this.fault(step.kind);
    }
    await this.clock.settle();
    this.check();
  }

  write(step: { readonly kind: 'put' | 'remove' | 'recreate'; readonly name: string }): void {
    this.#writes += 1;
    if (step.kind !== 'put') this.server.remove(step.name);
    if (step.kind === 'remove') return;
    const object = this.server.put(step.name, `grüße ${this.#writes}`);
    this.#sent.push({ type: 'MODIFIED', object });
  }

  /** One event in two chunks, cut at any byte. */
  split(step: { readonly at: number; readonly name: string }): void {
    const watch = this.watching;
    if (watch === undefined) return;
    const whole = watch.sendBytes.bind(watch);
    watch.sendBytes = (chunk) => {
      whole(chunk.subarray(0, step.at));
      whole(chunk.subarray(step.at));
    };
    this.server.put(step.name, 'grüße 🚀');
    watch.sendBytes = whole;
  }

  fault(
    kind: Exclude<Step, { span: number } | { status: number } | { name: string }>['kind'],
  ): void {
    const watch = this.watching;
    const faults: Record<typeof kind, () => void> = {
      break: () => watch?.break(),
      end: () => watch?.end(),
      'half-line': () => {
        watch?.sendBytes(Buffer.from('{"type":"ADDED","object":{"metadata'));
        watch?.break();
      },
      garbage: () => watch?.sendBytes(Buffer.from('garbage\n')),
      stall: () => {
        if (watch !== undefined) watch.sendBytes = () => undefined;
      },
      expire: () => watch?.send('ERROR', { code: 410 }),
      'error-500': () => watch?.send('ERROR', { code: 500 }),
      compact: () => this.server.compact(),
      bookmark: () => watch?.bookmark(this.server.revision),
      duplicates: () => {
        for (const { type, object } of this.#sent.slice(-5)) watch?.send(type, object);
      },
      'no-streaming': () => {
        this.server.streaming = 'refused';
      },
      streaming: () => {
        this.server.streaming = 'marked';
      },
    };
    faults[kind]();
  }

  get watching(): ScriptedWatch | undefined {
    return this.server.open.at(-1);
  }

  /** The handlers' knowledge, the cache and its index are one. */
  check(): void {
    const cached = rows(this.informer.lister.list());
    assert.deepEqual(rows(this.informer.lister.by('all', 'x')), cached);
    assert.deepEqual([...this.#mirror].map(([key, rv]) => `${key} ${rv}`).sort(), cached);
  }

  /** Whatever was hurt heals by itself, and the cache then equals the server. */
  async heal(): Promise<void> {
    this.server.refusals = [];
    await this.clock.advance(200_000);
    assert.equal(this.informer.hasSynced, true);
    const stored = [...this.server.objects.values()].map((object) => object.metadata);
    assert.deepEqual(rows(this.informer.lister.list()), rows(stored));
    assert.ok(this.informer.freshness.hasSeen(String(this.lastRevision())));
    this.stop.abort();
    await this.#ended;
  }

  lastRevision(): number {
    const revisions = [...this.server.objects.values()].map((o) => o.metadata.resourceVersion);
    return Math.max(1, ...revisions.map(Number));
  }
}

function rows(objects: Iterable<{ name: string; resourceVersion: string }>): readonly string[] {
  return [...objects].map((object) => `${object.name} ${object.resourceVersion}`).sort();
}

test('an informer equals its server after any faults, and never tells an older revision after a newer', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 60, size: 'max' }), async (steps) => {
      const run = new Run();
      for (const step of steps) await run.step(step);
      await run.heal();
    }),
    { numRuns: 150 },
  );
});
