import { because } from '#control/refs.ts';
import type { Delays } from './snapshot.ts';

/** Delays nothing, and holds every set that asks for a delay: it is never scaled without it (D-13). */
export const unbuiltDelays: Delays = Object.freeze<Delays>({
  verdict: ({ set }, wanted) => {
    const requeue = { kind: 'await-change' } as const;
    if (wanted === set.spec.replicas) return { verdict: { kind: 'settled' }, requeue };
    const delay = set.annotations['grafana.com/rollout-delayed-downscale'] ?? '';
    const url = set.annotations['grafana.com/rollout-prepare-delayed-downscale-url'] ?? '';
    if (delay !== '' && url !== '') {
      const message = `StatefulSet "${set.name}" asks for a delayed down-scale, which this version does not have`;
      return {
        verdict: { kind: 'hold', because: because('CapabilityNotBuilt', message) },
        requeue,
      };
    }
    return {
      verdict: { kind: 'scale', to: wanted, provenAt: undefined, because: undefined },
      requeue,
    };
  },
});
