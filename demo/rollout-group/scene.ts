import type { JsonObject } from '#base/json.ts';
import type { NodeConfig } from '#cluster/kubelet/node-fleet-options.ts';
import type { Environment } from '#kubernetes/transport/proxy.ts';
import { exampleFolder } from '../cluster/apply-manifests.ts';
import { changed, type ManifestChanges } from '../cluster/manifest.ts';
import type { ZoneView } from '../observer/zone-view.ts';
import { leaseFlags } from './short-times.ts';

/** What is installed for a scenario, and how its pods are reached. */
export interface Scene {
  /** Folder of its manifests. */
  readonly folder: string;
  /** Custom resources that have to be served before the manifests are applied. */
  readonly definitions: readonly JsonObject[];
  /** `HTTP_PROXY` and so on, for the operator's calls of pods. */
  readonly podEnv: Environment;
  /** Flags of the operator beyond the usual ones. */
  readonly operatorFlags: readonly string[];
  /** Names of the operators that are started once the group is there; the first one leads. */
  readonly operators: readonly string[];
  /** Whether what is simulated is a rollout; otherwise the zones are scaled. */
  readonly isRollout: boolean;
  /** Nodes of the cluster. @default one in each of three zones */
  readonly nodes?: readonly NodeConfig[];
  /** Whether nothing but the delays of pods bounds how fast it rolls, so that the physical limit says something. */
  readonly isPaced: boolean;
  /** Returns what the demo changes in a manifest. */
  change(object: JsonObject): JsonObject;
  /** What comes next; absent where it is a rollout. */
  next?(zones: readonly ZoneView[]): string;
  /** Further lines of the picture; absent where there are none. */
  panel?(): readonly string[];
}

/** Returns the group that rolls. */
export function rolloutScene(changes: ManifestChanges): Scene {
  return {
    folder: exampleFolder,
    definitions: [],
    podEnv: {},
    operatorFlags: [],
    operators: ['operator'],
    isRollout: true,
    isPaced: true,
    change: (object) => changed(object, changes),
  };
}

/** Returns the same group, and two operators whose Lease changes hands fast. */
export function handOverScene(changes: ManifestChanges): Scene {
  return {
    ...rolloutScene(changes),
    operatorFlags: leaseFlags,
    operators: ['operator-1', 'operator-2'],
  };
}
