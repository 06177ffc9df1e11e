/** Volumes and classes, which have no namespace: both servers are asked for what these conversations made. */
import type { Conversation, Talk } from './talk.ts';

const volumes = '/api/v1/persistentvolumes';
const classes = '/apis/storage.k8s.io/v1/storageclasses';
const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };

function claims({ namespace }: Talk): string {
  return `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
}

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const volume = {
  metadata: { name: 'shelf' },
  spec: {
    capacity: { storage: '1024Mi' },
    accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
    csi: { driver: 'a', volumeHandle: 'b' },
    claimRef: { namespace: 'somewhere', name: 'data' },
    storageClassName: 'slow',
  },
};

/** Keyed by a sentence. */
export const storage: Readonly<Record<string, Conversation>> = {
  'a volume is created, shown as a Table, bound and deleted': async (talk) => {
    await talk.send('POST', volumes, volume);
    await talk.send('GET', `${volumes}?fieldSelector=metadata.name%3Dshelf`, undefined, table);
    await talk.send('PATCH', `${volumes}/shelf/status`, { status: { phase: 'Bound' } });
    await talk.send('GET', `${volumes}/shelf`, undefined, table);
    await talk.send('PATCH', `${volumes}/shelf`, { spec: { csi: { driver: 'other' } } });
    await talk.ask('PATCH', `${volumes}/shelf`, { metadata: { finalizers: null } });
    await talk.ask('DELETE', `${volumes}/shelf`);
  },
  'a volume without a place is refused': async (talk) => {
    await talk.send('POST', volumes, { metadata: { name: 'none' }, spec: {} });
    const { csi: _, ...spec } = volume.spec;
    await talk.send('POST', volumes, { metadata: { name: 'none' }, spec });
    const capacity = { storage: '1Gi', cpu: '1' };
    await talk.send('POST', volumes, { metadata: { name: 'none' }, spec: { ...spec, capacity } });
  },
  'a class is created, shown as a Table, changed and deleted': async (talk) => {
    const metadata = { name: 'swift' };
    await talk.send('POST', classes, { metadata, provisioner: 'a', parameters: { b: 'c' } });
    await talk.send('GET', `${classes}/swift`, undefined, table);
    await talk.send('PATCH', `${classes}/swift`, { allowVolumeExpansion: true });
    await talk.send('GET', `${classes}/swift`, undefined, table);
    await talk.send('PATCH', `${classes}/swift`, { provisioner: 'b' });
    await talk.send('PATCH', `${classes}/swift`, { parameters: { b: 'd' } });
    await talk.send('PATCH', `${classes}/swift`, { reclaimPolicy: 'Retain' });
    await talk.send('DELETE', `${classes}/swift`);
  },
  'a class without a provisioner, or of unknown ways, is refused': async (talk) => {
    await talk.send('POST', classes, { metadata: { name: 'none' } });
    const ways = { reclaimPolicy: 'Keep', volumeBindingMode: 'Never' };
    await talk.send('POST', classes, { metadata: { name: 'none' }, provisioner: 'a', ...ways });
  },
  'a new claim gets the class that is marked as default': async (talk) => {
    await talk.send('POST', claims(talk), { metadata: { name: 'before' }, spec: claim });
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    const metadata = { name: 'usual', annotations };
    await talk.send('POST', classes, { metadata, provisioner: 'a' });
    await talk.send('GET', `${classes}/usual`, undefined, table);
    // The class is taken from a cache, which may lag.
    await talk.pause();
    await talk.send('POST', claims(talk), { metadata: { name: 'after' }, spec: claim });
    const none = { ...claim, storageClassName: '' };
    await talk.send('POST', claims(talk), { metadata: { name: 'none' }, spec: none });
    await talk.send('PATCH', `${claims(talk)}/after`, { spec: { volumeName: 'shelf' } });
    await talk.send('PATCH', `${claims(talk)}/after`, { spec: { volumeName: 'other' } });
    await talk.send('GET', `${claims(talk)}/after`, undefined, table);
    await talk.send('DELETE', `${classes}/usual`);
  },
};
