import type { Millis } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { RealEnv } from '../../test/real-cluster/real-env.ts';
import { images, podsOn, setImage, setName } from '../../test/scenarios/group.ts';

interface PodShape {
  readonly metadata: { readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
}

/**
 * Rolls the group to `image`, zone by zone, as fast as is possible: knows each commit as etcd makes it, and deletes the
 * next pod the instant the budget allows it.
 *
 * @param limit how long one zone may take
 */
export async function drive(env: RealEnv, image: string, limit: Millis): Promise<void> {
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
