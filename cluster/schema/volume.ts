import { objectFieldSelector, resourceFieldSelector } from './container.ts';
import { bool, fields, int, kept, list, mapOf, quantity, text } from './field-schema.ts';
import { labelSelector, localObjectReference } from './metadata.ts';
import { persistentVolumeClaimTemplate } from './persistent-volume-claim.ts';

const items = list(fields({ key: kept(text), path: kept(text), mode: kept(int) }));

const downwardItems = list(
  fields({
    path: kept(text),
    fieldRef: objectFieldSelector,
    resourceFieldRef: resourceFieldSelector,
    mode: kept(int),
  }),
);

const projection = fields({
  secret: fields({ name: text, items, optional: kept(bool) }),
  configMap: fields({ name: text, items, optional: kept(bool) }),
  downwardAPI: fields({ items: downwardItems }),
  serviceAccountToken: fields({ audience: text, expirationSeconds: kept(int), path: kept(text) }),
  clusterTrustBundle: fields({
    name: kept(text),
    signerName: kept(text),
    labelSelector,
    optional: kept(bool),
    path: kept(text),
  }),
  podCertificate: fields({
    signerName: text,
    keyType: text,
    maxExpirationSeconds: kept(int),
    credentialBundlePath: text,
    keyPath: text,
    certificateChainPath: text,
    userAnnotations: mapOf(text),
  }),
});

const localVolumes = {
  hostPath: fields({ path: kept(text), type: kept(text) }),
  emptyDir: fields({ medium: text, sizeLimit: quantity }),
  gitRepo: fields({ repository: kept(text), revision: text, directory: text }),
  secret: fields({
    secretName: text,
    items,
    defaultMode: kept(int),
    optional: kept(bool),
  }),
  configMap: fields({ name: text, items, defaultMode: kept(int), optional: kept(bool) }),
  downwardAPI: fields({ items: downwardItems, defaultMode: kept(int) }),
  projected: fields({ sources: kept(list(projection)), defaultMode: kept(int) }),
  image: fields({ reference: text, pullPolicy: text }),
  persistentVolumeClaim: fields({ claimName: kept(text), readOnly: bool }),
  ephemeral: fields({ volumeClaimTemplate: persistentVolumeClaimTemplate }),
};

const diskVolumes = {
  gcePersistentDisk: fields({ pdName: kept(text), fsType: text, partition: int, readOnly: bool }),
  awsElasticBlockStore: fields({
    volumeID: kept(text),
    fsType: text,
    partition: int,
    readOnly: bool,
  }),
  azureDisk: fields({
    diskName: kept(text),
    diskURI: kept(text),
    cachingMode: kept(text),
    fsType: kept(text),
    readOnly: kept(bool),
    kind: kept(text),
  }),
  azureFile: fields({ secretName: kept(text), shareName: kept(text), readOnly: bool }),
  cinder: fields({
    volumeID: kept(text),
    fsType: text,
    readOnly: bool,
    secretRef: localObjectReference,
  }),
  fc: fields({
    targetWWNs: list(text),
    lun: kept(int),
    fsType: text,
    readOnly: bool,
    wwids: list(text),
  }),
  iscsi: fields({
    targetPortal: kept(text),
    iqn: kept(text),
    lun: kept(int),
    iscsiInterface: text,
    fsType: text,
    readOnly: bool,
    portals: list(text),
    chapAuthDiscovery: bool,
    chapAuthSession: bool,
    secretRef: localObjectReference,
    initiatorName: kept(text),
  }),
  vsphereVolume: fields({
    volumePath: kept(text),
    fsType: text,
    storagePolicyName: text,
    storagePolicyID: text,
  }),
  photonPersistentDisk: fields({ pdID: kept(text), fsType: text }),
  portworxVolume: fields({ volumeID: kept(text), fsType: text, readOnly: bool }),
};

const networkVolumes = {
  nfs: fields({ server: kept(text), path: kept(text), readOnly: bool }),
  glusterfs: fields({ endpoints: kept(text), path: kept(text), readOnly: bool }),
  rbd: fields({
    monitors: kept(list(text)),
    image: kept(text),
    fsType: text,
    pool: text,
    user: text,
    keyring: text,
    secretRef: localObjectReference,
    readOnly: bool,
  }),
  flexVolume: fields({
    driver: kept(text),
    fsType: text,
    secretRef: localObjectReference,
    readOnly: bool,
    options: mapOf(text),
  }),
  cephfs: fields({
    monitors: kept(list(text)),
    path: text,
    user: text,
    secretFile: text,
    secretRef: localObjectReference,
    readOnly: bool,
  }),
  flocker: fields({ datasetName: text, datasetUUID: text }),
  quobyte: fields({
    registry: kept(text),
    volume: kept(text),
    readOnly: bool,
    user: text,
    group: text,
    tenant: text,
  }),
  scaleIO: fields({
    gateway: kept(text),
    system: kept(text),
    secretRef: localObjectReference,
    sslEnabled: bool,
    protectionDomain: text,
    storagePool: text,
    storageMode: text,
    volumeName: text,
    fsType: text,
    readOnly: bool,
  }),
  storageos: fields({
    volumeName: text,
    volumeNamespace: text,
    fsType: text,
    readOnly: bool,
    secretRef: localObjectReference,
  }),
  csi: fields({
    driver: kept(text),
    readOnly: kept(bool),
    fsType: kept(text),
    volumeAttributes: mapOf(text),
    nodePublishSecretRef: localObjectReference,
  }),
};

/** A volume of a pod. */
export const volume = fields({
  name: kept(text),
  ...localVolumes,
  ...diskVolumes,
  ...networkVolumes,
});
