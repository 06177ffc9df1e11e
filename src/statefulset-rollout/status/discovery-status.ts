import type { JsonObject } from '#base/json.ts';
import type { WantedCondition } from '#kubernetes/custom-resource/conditions.ts';
import { isReady } from '#statefulset/availability.ts';
import type { PodView } from '#statefulset/view.ts';
import type { RolloutView } from '../parse-resource.ts';
import type { Place } from '../plan/plan-places.ts';
import { isTerminal } from '../progress.ts';
import type { RolloutSnapshot } from '../snapshot.ts';
import { podsIn } from '../status.ts';

/** What a status says of service discovery. */
export interface DiscoveryStatus {
  readonly fields: JsonObject;
  /** Reports whether a pod is said to be ready there. */
  isReady(pod: PodView): boolean;
}

interface DiscoveryParts {
  readonly rollout: RolloutView;
  readonly snapshot: RolloutSnapshot;
}

const nothing: DiscoveryStatus = { fields: {}, isReady: () => false };

/** Returns what is known now; what was written before where that is unknown now, or the rollout has ended. */
export function discoveryStatus(
  { rollout, snapshot }: DiscoveryParts,
  places: readonly Place[],
): DiscoveryStatus {
  const { discovery, resource } = snapshot;
  const { spec, progress } = resource;
  if (spec.kind === 'valid' && spec.value.discovery === undefined) return nothing;
  if (discovery.kind === 'known') {
    const { passing, services } = discovery;
    const isPassing = (pod: PodView): boolean => passing.has(pod.uid) && isReady(pod);
    const ready = places.filter(({ pod }) => pod !== undefined && isPassing(pod));
    return {
      fields: {
        readyReplicasRotor: ready.length,
        ...(services.length > 0 && { consulServices: services }),
      },
      isReady: isPassing,
    };
  }
  const isOff = discovery.kind === 'off' && !isTerminal(progress.phase);
  return isOff ? nothing : writtenBefore(rollout);
}

function writtenBefore({ writtenStatus }: RolloutView): DiscoveryStatus {
  const { readyReplicasRotor, consulServices } = writtenStatus;
  const marked = podsIn(writtenStatus).filter((pod) => pod['readyServiceDiscovery'] === true);
  const names = new Set(marked.map(({ name }) => name));
  return {
    fields: {
      ...(readyReplicasRotor !== undefined && { readyReplicasRotor }),
      ...(consulServices !== undefined && { consulServices }),
    },
    isReady: (pod) => names.has(pod.name) && isReady(pod),
  };
}

/** Returns the condition about service discovery; none where nothing is asked of it, or nothing is known yet. */
export function discoveryCondition({
  discovery,
}: RolloutSnapshot): Record<string, WantedCondition> {
  switch (discovery.kind) {
    case 'known': {
      const names = discovery.services.join(', ');
      const message = names === '' ? 'Consul knows no service any more' : `Consul knows ${names}`;
      return healthy('True', 'ConsulAnswers', message);
    }
    case 'unknown':
      return healthy('False', discovery.code, discovery.message);
    case 'ignored': {
      const message = `${discovery.message}; spec.serviceDiscovery.consul.onError lets the rollout go on`;
      return healthy('False', discovery.code, message);
    }
    default:
      return {};
  }
}

function healthy(
  status: 'True' | 'False',
  reason: string,
  message: string,
): Record<string, WantedCondition> {
  return { ServiceDiscoveryHealthy: { status, because: { reason, message } } };
}
