/** By what the API server tells the elements of lists in a pod apart (`patchMergeKey` of k8s.io/api/core/v1). */
const keys: Readonly<Record<string, string>> = {
  containers: 'name',
  initContainers: 'name',
  ephemeralContainers: 'name',
  volumes: 'name',
  imagePullSecrets: 'name',
  env: 'name',
  volumeMounts: 'mountPath',
  volumeDevices: 'devicePath',
  ports: 'containerPort',
  hostAliases: 'ip',
  topologySpreadConstraints: 'topologyKey',
  resourceClaims: 'name',
};

/** Lists of the pod itself; all others are those of a container. */
const ofPods: ReadonlySet<string> = new Set([
  'containers',
  'initContainers',
  'ephemeralContainers',
  'volumes',
  'imagePullSecrets',
  'hostAliases',
  'topologySpreadConstraints',
  'resourceClaims',
]);

const podSpec = ['spec', 'template', 'spec'];

/** Returns by what the elements of the list at `path` of a StatefulSet are distinguished; undefined where they are not. */
export function keyOfList(path: readonly string[]): string | undefined {
  const name = path.at(-1) ?? '';
  const isInPod = podSpec.every((each, at) => path[at] === each);
  if (!isInPod || !Object.hasOwn(keys, name)) return undefined;
  const isOfPod = path.length === podSpec.length + 1;
  const isOfContainer = path.length === podSpec.length + 2 && /ontainers\[/.test(path[3] ?? '');
  if (isOfPod ? !ofPods.has(name) : !isOfContainer || ofPods.has(name)) return undefined;
  return keys[name];
}
