import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { after, seconds } from '#base/units.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { ingesterGroup } from '#support/objects/objects.ts';
import { T0 } from '#support/objects/views.ts';
import { GroupWorld, refusal } from '#support/rollouts/group-world.ts';
import { RecordingEvents, RecordingLogger } from '#support/telemetry/recording.ts';
import { StaleBasisError } from '../consistent-read/basis.ts';
import { reasonCatalogue } from '../decision/reasons.ts';
import type { PassResult } from '../run-controller.ts';
import { OpenDisruptions } from '../write/open-disruptions.ts';
import { OverruledError, PodDeletions } from '../write/pod-deletions.ts';
import { Refusals } from '../write/refusals.ts';
import type { EndedPass, ResourcePassEnd } from './resource-pass.ts';
import { type ResourcePasses, ResourceReconciler } from './resource-reconciler.ts';

const key = 'test/ingester-zone-a';
const retry: PassResult = { kind: 'retry', retryAfter: undefined };
const awaitChange = { kind: 'await-change' } as const;
const waiting = { reason: 'AwaitingPods', message: 'pod a-0 is not ready' };

/** A reconciler of resources, sets in this case, whose passes end as a test says. */
class Bench {
  readonly world = new GroupWorld(ingesterGroup({ zones: ['a'], replicas: 1 }));
  readonly log = new RecordingLogger();
  readonly events = new RecordingEvents();
  readonly refusals = new Refusals();
  readonly forgotten: (string | undefined)[] = [];
  pass: () => ResourcePassEnd<StatefulSetView> = () => ({ kind: 'gone' });
  isPassing = false;

  reconciler(): ResourceReconciler<StatefulSetView, EndedPass<StatefulSetView>> {
    const { client, clock, pods, statefulSets } = this.world;
    const { log, events, refusals } = this;
    const open = new OpenDisruptions();
    const deletions = new PodDeletions({ client, clock, log, open, pods: pods.freshness });
    const passes: ResourcePasses<StatefulSetView> = {
      about: {
        apiVersion: 'test/v1',
        kind: 'Rollout',
        field: 'rollout',
        reasons: reasonCatalogue,
      },
      resources: statefulSets,
      run: async () => this.pass(),
      isPassing: () => this.isPassing,
      forget: (_, uid) => this.forgotten.push(uid),
    };
    const ports = { clock, log, events, statefulSets, pods, refusals, open, deletions };
    return new ResourceReconciler(ports, passes);
  }

  ended(holds: EndedPass<StatefulSetView>['holds']): EndedPass<StatefulSetView> {
    const resource = this.world.statefulSets.lister.get('test', 'ingester-zone-a');
    assert.ok(resource);
    return { kind: 'ended', resource, holds, requeue: awaitChange };
  }

  async reconcile(): Promise<PassResult> {
    return this.reconciler().reconcile(key, new AbortController().signal);
  }

  told(): readonly string[] {
    return this.events.notes.map(({ reason }) => reason);
  }
}

describe('ResourceReconciler', () => {
  const failures = {
    'plans again where the world has moved': { error: refusal(409), told: [] },
    'plans again where the plan has changed': { error: new OverruledError('no'), told: [] },
    'tells of a view that is not good enough': {
      error: new StaleBasisError(Number.POSITIVE_INFINITY),
      told: ['ViewNotFresh'],
    },
    'tells of a request that is refused': {
      error: refusal(403),
      told: ['RequestRefused'],
    },
  };
  for (const [title, { error, told }] of Object.entries(failures)) {
    test(title, async () => {
      const bench = new Bench();
      bench.pass = () => {
        throw error;
      };
      assert.deepEqual(await bench.reconcile(), retry);
      assert.deepEqual(bench.told(), told);
    });
  }

  test('tries again when the server asks for it', async () => {
    const bench = new Bench();
    bench.pass = () => {
      throw refusal(429, seconds(7));
    };
    assert.deepEqual(await bench.reconcile(), { kind: 'retry', retryAfter: seconds(7) });
    assert.ok(bench.refusals.of(key, bench.world.clock.monotonic()));
  });

  test('passes on what is a fault of this program', async () => {
    const bench = new Bench();
    bench.pass = () => {
      throw new TypeError('a fault');
    };
    await assert.rejects(bench.reconcile(), TypeError);
  });

  test('tells what is waited for, and looks again when that is due to be told again', async () => {
    const bench = new Bench();
    bench.pass = () => bench.ended([waiting]);
    const at = after(bench.world.clock.now(), seconds(600));
    assert.deepEqual(await bench.reconcile(), { kind: 'ended', requeue: { kind: 'at', at } });
    assert.deepEqual(bench.told(), ['AwaitingPods']);
  });

  test('tells nothing of a pass that is only on the way to the next', async () => {
    const bench = new Bench();
    bench.isPassing = true;
    bench.pass = () => bench.ended([waiting]);
    assert.deepEqual(await bench.reconcile(), { kind: 'ended', requeue: awaitChange });
    assert.deepEqual(bench.told(), []);
  });

  test('says first what the view may lack', async () => {
    const bench = new Bench();
    const { pods, clock } = bench.world;
    pods.staleness = { since: clock.monotonic(), message: 'no list of pods' };
    bench.pass = () => bench.ended([waiting]);
    await bench.reconcile();
    assert.deepEqual(bench.told(), ['ViewNotFresh', 'AwaitingPods']);
  });

  test('forgets a resource that is gone, by the uid that a pass has seen', async () => {
    const bench = new Bench();
    const reconciler = bench.reconciler();
    const { signal } = new AbortController();
    bench.pass = () => bench.ended([]);
    await reconciler.reconcile(key, signal);
    bench.pass = () => ({ kind: 'gone' });
    await reconciler.reconcile(key, signal);
    await reconciler.reconcile(key, signal);
    assert.deepEqual(bench.forgotten, ['ingester-zone-a-uid', undefined]);
    assert.equal(bench.world.clock.now(), T0);
  });
});
