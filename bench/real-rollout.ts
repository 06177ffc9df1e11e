import { availableParallelism } from 'node:os';
import { millis, minutes } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { RealEnv } from '../test/real-cluster/namespace-env.ts';
import { startRealLane } from '../test/real-cluster/real-lane.ts';
import { images, podsOn, setImage, setName } from '../test/scenarios/group.ts';
import { bounded, type Findings, type Size, told } from './figures.ts';
import { loadSince, machineReading } from './process-usage.ts';

interface Setting {
  readonly replicas: number;
  readonly maxUnavailable: number;
  /** How long pods take to end, to be bound, to start and to become ready, in ms. */
  readonly delays: Readonly<Record<'stop' | 'bind' | 'start' | 'ready', number>>;
}

const settings: Readonly<Record<Size, Setting>> = {
  full: {
    replicas: 200,
    maxUnavailable: 20,
    delays: { stop: 100, bind: 100, start: 550, ready: 1_450 },
  },
  tiny: { replicas: 4, maxUnavailable: 2, delays: { stop: 20, bind: 20, start: 20, ready: 50 } },
};

const limit = minutes(10);

/**
 * How long a rollout takes on a real control plane, beside the time of a perfect driver on the same one: a driver that
 * knows each commit as etcd makes it, and deletes the next pod the instant the budget allows it.
 */
export async function rolloutOnReal(size: Size): Promise<readonly Findings[]> {
  const { replicas, maxUnavailable, delays } = settings[size];
  const { stop, bind, start, ready } = delays;
  const lane = await startRealLane({
    delays: { stop: millis(stop), bind: millis(bind), start: millis(start), ready: millis(ready) },
  });
  try {
    const env = await lane.env({ replicas, maxUnavailable });
    const { clock } = lane.plane;
    const before = machineReading();
    const timed = async (work: () => Promise<void>): Promise<number> => {
      const begin = clock.monotonic();
      await work();
      return clock.monotonic() - begin;
    };
    const perfect = await timed(() => drive(env, images.new));
    const operator = await env.startOperator();
    const took = await timed(async () => {
      await setImage(env, images.old);
      await untilOn(env, images.old);
    });
    await operator.stop();
    const load = loadSince(before);
    const judgement = await env.judge();
    const pods = env.zones.length * replicas;
    const physical =
      (env.zones.length * Math.ceil(replicas / maxUnavailable) * (stop + bind + start + ready)) /
      1_000;
    await env.close();
    return [
      {
        bench: 'rollout',
        setting: `${env.zones.length} zones × ${replicas} pods, ${maxUnavailable} at a time, on a real etcd, kube-apiserver and kube-controller-manager; operator under its Role; ${availableParallelism()} cores; ${load}`,
        figures: [
          bounded(
            'wall-clock ÷ perfect driver',
            {
              value: took / perfect,
              how: `${(took / 1_000).toFixed(2)} s from the first template change to the last Ready, as etcd stored it; the driver took ${(perfect / 1_000).toFixed(2)} s for the same ${pods} pods`,
            },
            size,
          ),
          bounded(
            'invariants broken',
            {
              value: judgement.violations.length,
              how: 'each commit judged by src/testing/judge.ts, authors from the audit log',
            },
            size,
          ),
          told('perfect driver ÷ physical limit', {
            value: perfect / 1_000 / physical,
            unit: '×',
            how: `what the cluster itself adds to ${physical} s of restarts`,
          }),
        ],
      },
    ];
  } finally {
    await lane.close();
  }
}

async function untilOn(env: RealEnv, image: string): Promise<void> {
  const pods = env.zones.length * env.replicas;
  await env.until(`all pods run ${image}`, () => podsOn(env, image) === pods, limit);
}

interface PodShape {
  readonly metadata: { readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
}

/** Rolls the group to `image`, zone by zone. */
async function drive(env: RealEnv, image: string): Promise<void> {
  await setImage(env, image);
  const sent = new Set<string>();
  const failures: Error[] = [];
  for (const zone of env.zones) {
    const isDone = (): boolean => {
      const [failure] = failures;
      if (failure !== undefined) throw failure;
      const up = podsOn(env, image, [zone]) + podsOn(env, otherThan(image), [zone]);
      let free = env.maxUnavailable - (env.replicas - up) - unseen(env, zone, sent);
      for (const [name, uid] of outdated(env, zone, image)) {
        if (free <= 0) break;
        if (sent.has(uid)) continue;
        sent.add(uid);
        free -= 1;
        remove(env, name, uid).catch((cause: unknown) =>
          failures.push(new Error(`Cannot delete ${name}`, { cause })),
        );
      }
      return podsOn(env, image, [zone]) === env.replicas;
    };
    await env.until(`zone ${zone} is rolled`, isDone, limit);
  }
}

function otherThan(image: string): string {
  return image === images.new ? images.old : images.new;
}

function podsOf(env: RealEnv, zone: string): readonly (readonly [string, PodShape])[] {
  return Array.from({ length: env.replicas }, (_, ordinal) => {
    const name = `${setName(zone)}-${ordinal}`;
    return [name, env.stored('pods', name) as PodShape | undefined] as const;
  }).filter((entry): entry is readonly [string, PodShape] => entry[1] !== undefined);
}

/** How many pods are deleted, but not yet as etcd shows them. */
function unseen(env: RealEnv, zone: string, sent: ReadonlySet<string>): number {
  return podsOf(env, zone).filter(
    ([, { metadata }]) => sent.has(metadata.uid) && metadata.deletionTimestamp === undefined,
  ).length;
}

function outdated(
  env: RealEnv,
  zone: string,
  image: string,
): readonly (readonly [string, string])[] {
  return podsOf(env, zone)
    .filter(
      ([, { metadata, spec }]) =>
        metadata.deletionTimestamp === undefined && spec.containers[0]?.image !== image,
    )
    .map(([name, { metadata }]) => [name, metadata.uid] as const);
}

async function remove(env: RealEnv, name: string, uid: string): Promise<void> {
  const { namespace } = env;
  await env.admin.delete(resourceTypes.pods, { namespace, name }, { preconditions: { uid } });
}
