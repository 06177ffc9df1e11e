import { millis } from '#base/units.ts';
import {
  type ControllersOptions,
  startControllers,
  usualControllers,
} from '#cluster/controllers/start-controllers.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import { startKubelet } from '#cluster/kubelet/start-kubelet.ts';
import { KeptLog } from '#support/telemetry/kept-log.ts';
import { systemClock } from '#telemetry/system-clock.ts';

/** How long pods take: kubectl delete misses a pod that is replaced between its two first reads, so no less than this. */
export const shortDelays = {
  stop: millis(500),
  bind: millis(10),
  start: millis(20),
  ready: millis(20),
};

/** An embedded cluster as other programs see it. */
export interface ServedCluster {
  readonly cluster: EmbeddedCluster;
  /** With the rights of an administrator. */
  readonly kubeconfig: string;
  readonly close: () => Promise<void>;
}

/** Starts an embedded cluster with controllers and kubelet stand-in, in real time, and serves it over HTTPS. */
export async function serveEmbedded(): Promise<ServedCluster> {
  const clock = systemClock();
  const seed = 1;
  const log = new KeptLog();
  const cluster = await createCluster({ clock, seed });
  const transportFor: ControllersOptions['transportFor'] = (user) =>
    cluster.transport({ user, client: user.name });
  const common = { transportFor, clock, seed, log };
  // As `npm run do cluster` does.
  const controllers = startControllers({ ...common, only: [...usualControllers, 'endpoints'] });
  const kubelet = startKubelet({ ...common, delays: shortDelays, areVolumesMade: true });
  await Promise.all([controllers.ready, kubelet.ready]);
  const listener = await cluster.listen({ isTls: true });
  return {
    cluster,
    kubeconfig: listener.kubeconfig(),
    close: async () => {
      await controllers.stop();
      await kubelet.stop();
      await cluster.close();
    },
  };
}
