import type { JsonObject } from '#base/json.ts';
import { emptyObject, mapListAt, mapObjectAt, textAt, withMissing } from '../../json/members.ts';
import { defaultDownwardItem, isPulledAlways } from './default-container.ts';

const fileMode: JsonObject = Object.freeze({ defaultMode: 420 });

function withDownwardItems(source: JsonObject): JsonObject {
  return mapListAt(source, 'items', defaultDownwardItem);
}

function defaultProjection(projection: JsonObject): JsonObject {
  const result = mapObjectAt(projection, 'downwardAPI', withDownwardItems);
  return mapObjectAt(result, 'serviceAccountToken', (token) =>
    withMissing(token, { expirationSeconds: 3600 }),
  );
}

/** The defaults of each volume source that has any, by its member name. */
const sourceDefaults: Readonly<Record<string, (source: JsonObject) => JsonObject>> = {
  secret: (source) => withMissing(source, fileMode),
  configMap: (source) => withMissing(source, fileMode),
  downwardAPI: (source) => withDownwardItems(withMissing(source, fileMode)),
  projected: (source) => mapListAt(withMissing(source, fileMode), 'sources', defaultProjection),
  hostPath: (source) => withMissing(source, { type: '' }),
  ephemeral: (source) =>
    mapObjectAt(source, 'volumeClaimTemplate', (template) =>
      mapObjectAt(withMissing(template, { metadata: emptyObject }), 'spec', defaultClaimSpec),
    ),
  image: (source) =>
    withMissing(source, {
      pullPolicy: isPulledAlways(textAt(source, 'reference')) ? 'Always' : 'IfNotPresent',
    }),
  iscsi: (source) => withMissing(source, { iscsiInterface: 'default' }),
  rbd: (source) =>
    withMissing(source, { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' }),
  azureDisk: (source) =>
    withMissing(source, {
      cachingMode: 'ReadWrite',
      kind: 'Shared',
      fsType: 'ext4',
      readOnly: false,
    }),
  scaleIO: (source) => withMissing(source, { storageMode: 'ThinProvisioned', fsType: 'xfs' }),
};

/** Returns a volume with the defaults of the API server (OB-16); one without a source is an emptyDir. */
export function defaultVolume(volume: JsonObject): JsonObject {
  let sources = 0;
  for (const member in volume) {
    if (member === 'name') continue;
    sources += 1;
    const change = sourceDefaults[member];
    if (change !== undefined) return mapObjectAt(volume, member, change);
  }
  return sources === 0 ? { ...volume, emptyDir: emptyObject } : volume;
}

/** Returns the spec of a PersistentVolumeClaim with its defaults. */
export function defaultClaimSpec(spec: JsonObject): JsonObject {
  return withMissing(spec, { volumeMode: 'Filesystem', resources: emptyObject });
}
