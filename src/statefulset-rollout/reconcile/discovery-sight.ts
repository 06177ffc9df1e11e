import { passingInAll } from '#check/consul/consul-match.ts';
import type { FollowedQuestion, ServiceSight } from '#check/consul/consul-watch.ts';
import type { ConsulWatches } from '#check/consul/consul-watches.ts';
import type { PodView } from '#statefulset/view.ts';
import type { DiscoveryTarget } from '../api.ts';
import type { RolloutView } from '../parse-resource.ts';
import { isTerminal } from '../progress.ts';
import type { DiscoverySight } from '../snapshot.ts';

/** What service discovery says, as rollouts see it. */
export interface DiscoveryPort {
  /** Returns what is known now of the pods that `rollout` moves. It is followed from then on, until the rollout has ended. */
  sight(rollout: RolloutView, pods: readonly PodView[]): DiscoverySight;
  /** Forgets the resource `key`, which is gone. */
  forget(key: string): void;
}

const unconfigured =
  'no Consul is configured for this operator, and spec.serviceDiscovery asks for it';

/** Returns what looks into `watches`; undefined where no Consul is configured. */
export function createDiscovery(
  watches: Pick<ConsulWatches, 'follow' | 'forget' | 'sight'> | undefined,
): DiscoveryPort {
  return {
    forget: (key) => watches?.forget(key),
    sight: (rollout, pods) => {
      const key = `${rollout.namespace}/${rollout.name}`;
      const wish = wishOf(rollout);
      if (wish === undefined) watches?.forget(key);
      if (wish === undefined) return { kind: 'off' };
      if (watches === undefined) return without(wish.target, 'ConsulUnavailable', unconfigured);
      watches.follow(key, wish.questions);
      const sights = wish.questions.map((question): [string, ServiceSight] => [
        question.service,
        watches.sight(question),
      ]);
      const { discovered } = rollout.progress;
      return discoverySight(wish.target, new Map(sights), { pods, discovered });
    },
  };
}

/** Returns what an active rollout asks for. */
function wishOf({
  namespace,
  spec,
  progress,
  isDeleting,
}: RolloutView):
  | { readonly target: DiscoveryTarget; readonly questions: readonly FollowedQuestion[] }
  | undefined {
  const target = spec.kind === 'valid' ? spec.value.discovery : undefined;
  if (target === undefined || isDeleting || isTerminal(progress.phase)) return undefined;
  const { datacenter, namespace: ns, partition, services, token: secret } = target;
  const token = secret && { namespace, ...secret };
  const shared = { datacenter, namespace: ns, partition, token };
  return { target, questions: services.map((service) => ({ service, ...shared })) };
}

/**
 * Returns what the sights of all services come to: a service that is not there is left out, unless it was there in this rollout;
 * where none is left, nothing is asked of the pods (CONSUL-10, CONSUL-13).
 */
export function discoverySight(
  target: DiscoveryTarget,
  sights: ReadonlyMap<string, ServiceSight>,
  known: { readonly pods: readonly PodView[]; readonly discovered: ReadonlySet<string> },
): DiscoverySight {
  const found = [...sights.values()];
  const trouble = found.find((sight) => sight.kind === 'unknown');
  if (trouble !== undefined) return without(target, trouble.code, trouble.message);
  if (found.some(({ kind }) => kind === 'awaited')) return { kind: 'awaited' };
  const instances = (service: string): readonly Instance[] => {
    const sight = sights.get(service);
    return sight?.kind === 'known' ? sight.instances : [];
  };
  const services = target.services.filter((service) => instances(service).length > 0).toSorted();
  const needed = target.services.filter(
    (service) => services.includes(service) || known.discovered.has(service),
  );
  if (needed.length === 0) return { kind: 'off' };
  return { kind: 'known', passing: passingInAll(needed.map(instances), known.pods), services };
}

type Instance = Extract<ServiceSight, { kind: 'known' }>['instances'][number];

function without(
  { onError }: DiscoveryTarget,
  code: Extract<ServiceSight, { kind: 'unknown' }>['code'],
  message: string,
): DiscoverySight {
  return { kind: onError === 'Ignore' ? 'ignored' : 'unknown', code, message };
}
