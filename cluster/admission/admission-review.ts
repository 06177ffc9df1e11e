import type { JsonObject } from '#base/json.ts';
import { metadataOf, textField, without } from '../json/json-fields.ts';
import type { ResourceRow, SubresourceRow } from '../resource-row.ts';
import type { AdmissionAttributes } from '../rest/request/server-context.ts';
import { shownAs } from './equivalent-rows.ts';
import { type Invocation, namespaceOf, requestRow } from './match-webhook.ts';

/** Returns the `admission.k8s.io/v1` AdmissionReview that a webhook is sent (AD-5). */
export function reviewOf(
  attributes: AdmissionAttributes,
  { row }: Invocation,
  uid: string,
): JsonObject {
  const { call, operation, name, object, oldObject } = attributes;
  const { subresource } = call.route;
  const asked = requestRow(attributes);
  const namespace = namespaceOf(attributes);
  const { user } = call.request;
  const shown = (value: JsonObject | undefined): JsonObject | null =>
    value === undefined ? null : bare(isWhole(subresource) ? shownAs(row, value) : value);
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid,
      kind: kindOf(row, subresource),
      resource: resourceOf(row),
      ...(subresource === undefined ? {} : { subResource: subresource.name }),
      requestKind: kindOf(asked, subresource),
      requestResource: resourceOf(asked),
      ...(subresource === undefined ? {} : { requestSubResource: subresource.name }),
      ...(name === '' ? {} : { name }),
      ...(namespace === '' ? {} : { namespace }),
      operation,
      userInfo: { username: user.name, groups: user.groups },
      object: shown(object),
      oldObject: shown(oldObject),
      dryRun: isDryRun(attributes),
      options: attributes.options ?? optionsOf(attributes),
    },
  };
}

/** Whether what is exchanged is the resource's own kind. */
export function isWhole(subresource: SubresourceRow | undefined): boolean {
  return subresource === undefined || ['status', 'finalize'].includes(subresource.name);
}

/** Reports whether nothing will be stored. */
export function isDryRun({ call }: AdmissionAttributes): boolean {
  return call.isDryRun;
}

function kindOf({ type }: ResourceRow, subresource: SubresourceRow | undefined): JsonObject {
  return {
    group: subresource?.group ?? type.group,
    version: subresource?.version ?? type.version,
    kind: subresource?.kind ?? type.kind,
  };
}

function resourceOf({ type }: ResourceRow): JsonObject {
  return { group: type.group, version: type.version, resource: type.plural };
}

/** A version that is not given yet is left out. */
function bare(object: JsonObject): JsonObject {
  const metadata = metadataOf(object);
  if (metadata['resourceVersion'] !== '') return object;
  return { ...object, metadata: without(metadata, 'resourceVersion') };
}

function optionsOf({ call, operation }: AdmissionAttributes): JsonObject {
  const { query } = call.route;
  const members = ['fieldManager', 'fieldValidation'].flatMap((member) => {
    const value = query.get(member) ?? '';
    return value === '' ? [] : [[member, value] as const];
  });
  return {
    kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions',
    apiVersion: 'meta.k8s.io/v1',
    ...(query.has('dryRun') ? { dryRun: query.getAll('dryRun') } : {}),
    ...Object.fromEntries(members),
  };
}

/** Returns `text` where it is not empty: how Go prints a type. */
export function typeText(object: JsonObject): string {
  const apiVersion = textField(object, 'apiVersion');
  const version = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  return `${version}, Kind=${textField(object, 'kind')}`;
}
