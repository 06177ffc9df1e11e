import type { Millis } from '#base/units.ts';
import type { Cached, Change, Informer, InformerProblem } from '#kubernetes/informer/informer.ts';
import { createInformer } from '#kubernetes/informer/shared-informer.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { FakeClock } from '../clocks/fake-clock.ts';
import { ScriptedClient } from './scripted-client.ts';
import { WatchServer } from './watch-server.ts';

/** An object of the {@link InformerRig}, as its cache keeps it. */
export interface Row extends Cached {
  readonly note: string;
  readonly tags: readonly string[];
}

function noteOf(object: KubernetesObject): string {
  return typeof object['note'] === 'string' ? object['note'] : '';
}

function rowOf(object: KubernetesObject): Row {
  const { metadata } = object;
  const note = noteOf(object);
  if (note === 'poison') throw new Error('the note is poison');
  const { name, namespace = '', uid, resourceVersion } = metadata;
  return { name, namespace, uid, resourceVersion, note, tags: note.split(' ') };
}

/** What differs from the usual informer of a {@link InformerRig}. */
export interface RigOptions {
  readonly isAbsentAllowed?: boolean;
  readonly labelSelector?: string;
  readonly resync?: Millis;
}

/** An informer on a small server. */
export class InformerRig {
  readonly clock = new FakeClock();
  readonly server = new WatchServer();
  readonly client = new ScriptedClient(this.server);
  readonly problems: InformerProblem[] = [];
  readonly changes: Change<Row>[] = [];
  readonly stop = new AbortController();
  readonly informer: Informer<Row>;
  ended: Promise<void> = Promise.resolve();

  constructor(options: RigOptions = {}) {
    this.informer = createInformer<Row>({
      client: this.client,
      clock: this.clock,
      type: resourceTypes.pods,
      namespace: 'demo',
      project: rowOf,
      indexers: { tag: (row) => row.tags },
      report: (problem) => this.problems.push(problem),
      ...options,
    });
    this.informer.onChange((change) => this.changes.push(change));
    this.server.put('a', 'one');
    this.server.put('b', 'two');
  }

  /** Starts the informer and lets the first list end. */
  async run(): Promise<void> {
    this.ended = this.informer.run(this.stop.signal);
    this.ended.catch(() => undefined);
    await this.clock.settle();
  }

  /** Ends the informer. */
  async finish(): Promise<void> {
    this.stop.abort();
    await this.ended;
  }

  /** Returns name, uid and note of all objects, sorted. */
  cached(): readonly string[] {
    return [...this.informer.lister.list()].map((r) => `${r.name} ${r.uid} ${r.note}`).sort();
  }

  /** Returns what the server has, in the same form. */
  stored(): readonly string[] {
    return [...this.server.objects.values()]
      .map((o) => `${o.metadata.name} ${o.metadata.uid} ${noteOf(o)}`)
      .sort();
  }

  /** Returns the changes since the last call, as `kind name note`. */
  heard(): readonly string[] {
    return this.changes
      .splice(0)
      .map(({ kind, object }) => `${kind} ${object.name} ${object.note}`);
  }

  /** Watches begun so far. */
  watches(): number {
    return this.client.calls.filter((call) => call.verb === 'watch').length;
  }

  /** Lists begun so far, in either way. */
  lists(): number {
    return this.client.calls.filter(
      (call) =>
        (call.verb === 'list' && call.query.continue === undefined) ||
        (call.verb === 'watch' && call.query.sendInitialEvents),
    ).length;
  }

  reasons(): readonly string[] {
    return this.problems.map((problem) => problem.reason);
  }
}

/** Returns a rig whose first list has ended, with nothing heard yet. */
export async function runningRig(options: RigOptions = {}): Promise<InformerRig> {
  const rig = new InformerRig(options);
  await rig.run();
  rig.heard();
  return rig;
}
