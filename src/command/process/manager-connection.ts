/** How programs that are started as a manager of controller-runtime find their API server, and their own namespace. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import {
  type ConnectionSettings,
  ConnectionSettingsError,
} from '#kubernetes/connect/connection.ts';
import { inClusterSettings } from '#kubernetes/connect/in-cluster.ts';
import { withMissingFile } from '#telemetry/missing-file.ts';

/** What of the command line decides on it. */
export interface ManagerDoor {
  /** Undefined: inside the cluster. */
  readonly kubeconfig: string | undefined;
  readonly isElected: boolean;
}

/** Returns where the Lease is: the namespace of the pod, or of the kubeconfig. @throws {Error} one sentence, where there is none */
export function namespaceOf(
  { isElected }: Pick<ManagerDoor, 'isElected'>,
  { namespace = '' }: ConnectionSettings,
): string {
  if (namespace !== '') return namespace;
  if (!isElected) return 'default';
  throw new Error(
    'Cannot take part in leader election, as the namespace of the Lease is not known: name one in the context of the kubeconfig',
  );
}

/** Returns the kubeconfig that is named, else the service account of the pod, else the kubeconfig of the user (controller-runtime). */
export async function settingsOf(
  { kubeconfig }: Pick<ManagerDoor, 'kubeconfig'>,
  clock: Clock,
): Promise<ConnectionSettings> {
  const usual = join(homedir(), '.kube', 'config');
  const isInCluster = (process.env['KUBERNETES_SERVICE_HOST'] ?? '') !== '';
  const path = kubeconfig ?? (!isInCluster && existsSync(usual) ? usual : undefined);
  if (path === undefined) return inClusterSettings({ clock, env: process.env }).catch(withHint);
  if (path.includes(delimiter)) {
    throw new Error(`Cannot use KUBECONFIG, as it names more than one file: ${path}`);
  }
  const { kubeconfigSettings } = await import('#kubernetes/connect/kubeconfig.ts').catch(
    withMissingFile,
  );
  return kubeconfigSettings({ clock, path });
}

function withHint(error: unknown): never {
  if (!(error instanceof ConnectionSettingsError)) throw error;
  const hint = 'outside of a cluster, name a kubeconfig with --kubeconfig or $KUBECONFIG';
  throw new Error(`${error.message}; ${hint}`, { cause: error });
}
