import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as admission from './admission-kinds.ts';
import * as core from './core-kinds.ts';
import * as addresses from './endpoint-kinds.ts';
import type { FieldSchema } from './field-schema.ts';
import { persistentVolumeClaim } from './persistent-volume-claim.ts';
import * as storage from './storage-kinds.ts';
import * as workloads from './workload-kinds.ts';

/** Interfaces of the published type definitions (one minor older): member names with the text of their types. */
function interfacesOf(file: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const url = import.meta.resolve('kubernetes-types/package.json');
  const source = readFileSync(new URL(file, url), 'utf8').replaceAll(/\/\*\*[\s\S]*?\*\//g, '');
  const found = [...source.matchAll(/export interface (\w+) \{([\s\S]*?)\n\}/g)];
  return new Map(found.map(([, name = '', body = '']) => [name, membersOf(body)]));
}

function membersOf(body: string): ReadonlyMap<string, string> {
  const members = body.matchAll(/^ {4}"?(\w+)"?\??: ([\w<>]+|\{)/gm);
  return new Map([...members].map(([, name = '', type = '']) => [name, type]));
}

const published = new Map([
  ...interfacesOf('meta/v1.d.ts'),
  ...interfacesOf('core/v1.d.ts'),
  ...interfacesOf('apps/v1.d.ts'),
  ...interfacesOf('policy/v1.d.ts'),
  ...interfacesOf('coordination/v1.d.ts'),
  ...interfacesOf('authorization/v1.d.ts'),
  ...interfacesOf('discovery/v1.d.ts'),
  ...interfacesOf('storage/v1.d.ts'),
  ...interfacesOf('admissionregistration/v1.d.ts'),
]);

/** Members that left the API since, or that the schema keeps as raw JSON. */
const gone = new Set(['PodResourceClaim.source']);

function missingFields(schema: FieldSchema, typeName: string): string[] {
  const members = published.get(typeName);
  const inner = schema.kind === 'list' ? schema.of : schema;
  if (members === undefined || inner.kind !== 'object') return [];
  return [...members].flatMap(([member, type]) => {
    const field = Object.hasOwn(inner.fields, member) ? inner.fields[member] : undefined;
    if (field !== undefined) return missingFields(field, type.replace(/^Array<(\w+)>$/, '$1'));
    return gone.has(`${typeName}.${member}`) ? [] : [`${typeName}.${member}`];
  });
}

const kinds: Record<string, FieldSchema> = {
  Pod: workloads.pod,
  StatefulSet: workloads.statefulSet,
  ControllerRevision: workloads.controllerRevision,
  PodDisruptionBudget: workloads.podDisruptionBudget,
  PersistentVolumeClaim: persistentVolumeClaim,
  PersistentVolume: storage.persistentVolume,
  StorageClass: storage.storageClass,
  Endpoints: addresses.endpoints,
  EndpointSlice: addresses.endpointSlice,
  ConfigMap: core.configMap,
  Secret: core.secret,
  ServiceAccount: core.serviceAccount,
  Namespace: core.namespace,
  Service: core.service,
  Event: core.event,
  Lease: core.lease,
  Node: core.node,
  SelfSubjectAccessReview: core.selfSubjectAccessReview,
  MutatingWebhookConfiguration: admission.mutatingWebhookConfiguration,
  ValidatingWebhookConfiguration: admission.validatingWebhookConfiguration,
};
for (const [kind, schema] of Object.entries(kinds)) {
  test(`the schema of ${kind} has every published field`, () => {
    assert.ok((published.get(kind)?.size ?? 0) >= 2);
    assert.deepEqual(missingFields(schema, kind), []);
  });
}
