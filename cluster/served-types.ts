import type { ResourceType } from '#kubernetes/resource-type.ts';

/** The types that only the embedded cluster itself writes: volumes for claims, addresses for services. */
export const servedTypes = Object.freeze({
  persistentVolumes: {
    ...inGroup('', 'persistentvolumes', 'PersistentVolume'),
    isNamespaced: false,
  },
  storageClasses: {
    ...inGroup('storage.k8s.io', 'storageclasses', 'StorageClass'),
    isNamespaced: false,
  },
  endpoints: inGroup('', 'endpoints', 'Endpoints'),
  endpointSlices: inGroup('discovery.k8s.io', 'endpointslices', 'EndpointSlice'),
});

function inGroup(group: string, plural: string, kind: string): ResourceType {
  return { group, version: 'v1', plural, kind, isNamespaced: true };
}
