import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import {
  type Controllers,
  type ControllersOptions,
  startControllers,
} from '#cluster/controllers/start-controllers.ts';
import type { EmbeddedCluster } from '#cluster/create-cluster.ts';
import { type Kubelet, type KubeletOptions, startKubelet } from '#cluster/kubelet/start-kubelet.ts';
import { createLogger, unbuffered } from '#telemetry/log/line-logger.ts';

/** How the controllers and kubelets around an operator differ from the usual ones. */
export interface EnvironmentOptions {
  /** @default 1 */
  readonly seed?: number;
  /** The version of Kubernetes. @default that of the embedded cluster */
  readonly version?: string;
  readonly kubelet?: Partial<KubeletOptions>;
  readonly controllers?: Partial<ControllersOptions>;
}

/** Starts what makes an embedded cluster live: its controllers and kubelets. */
export function startEnvironment(
  cluster: EmbeddedCluster,
  clock: Clock,
  {
    seed = 1,
    kubelet,
    controllers,
    log = unread(clock),
  }: EnvironmentOptions & {
    /** @default one that is not read */
    readonly log?: Logger;
  },
): { readonly controllers: Controllers; readonly kubelet: Kubelet } {
  const common = {
    clock,
    seed,
    log,
    transportFor: (user: { readonly name: string; readonly groups: readonly string[] }) =>
      cluster.transport({ user, client: user.name }),
  };
  return {
    controllers: startControllers({ ...common, ...controllers }),
    kubelet: startKubelet({ ...common, ...kubelet }),
  };
}

function unread(clock: Clock): Logger {
  return createLogger({ format: 'json', level: 'error', clock, sink: unbuffered(() => undefined) });
}
