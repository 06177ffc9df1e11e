import { isJsonObject, type JsonObject } from '#base/json.ts';
import { timestamp } from '../../clock/timestamp.ts';
import { conflict, invalid } from '../../errors/status-errors.ts';
import { arrayField, metadataOf, objectField, textField } from '../../json/json-fields.ts';
import { decodeAnyBody } from '../request/decode-body.ts';
import {
  type ApiCall,
  type Reply,
  replyWith,
  type ServerContext,
} from '../request/server-context.ts';
import { withTopologyLabels } from '../verbs/topology-labels.ts';
import { updateObject } from '../verbs/update.ts';

/**
 * Answers POST to a pod's /binding: sets the node and the condition PodScheduled (SU-3). Webhooks see the Binding, never the
 * pod.
 */
export async function bindPod(context: ServerContext, call: ApiCall): Promise<Reply> {
  const { row, name, namespace } = call.route;
  const given = decodeAnyBody(call);
  const complete = {
    ...given,
    kind: 'Binding',
    apiVersion: 'v1',
    metadata: { name, ...metadataOf(given), namespace },
  };
  const body = withTopologyLabels(context, complete, targetOf(complete));
  const attributes = { call, operation: 'CREATE', name } as const;
  const binding = (await context.admission?.mutate({ ...attributes, object: body })) ?? body;
  const node = targetOf(binding);
  if (node === '') {
    throw invalid(row, name, [
      { reason: 'FieldValueRequired', message: 'Required value', field: 'target.name' },
    ]);
  }
  await context.admission?.validate({ ...attributes, object: binding });
  const wanted = (stored: JsonObject): JsonObject => bound(context, call, { stored, binding });
  await updateObject(context, call, { wanted, isAdmitted: true });
  return replyWith(201, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    code: 201,
  });
}

function targetOf(binding: JsonObject): string {
  return textField(objectField(binding, 'target'), 'name');
}

/** Returns the metadata of a pod with the labels and annotations of the Binding over its own. */
function boundMetadata(stored: JsonObject, binding: JsonObject): JsonObject {
  const metadata = metadataOf(stored);
  const given = metadataOf(binding);
  const merged = (member: 'annotations' | 'labels'): JsonObject =>
    given[member] === undefined
      ? {}
      : { [member]: { ...objectField(metadata, member), ...objectField(given, member) } };
  return { ...metadata, ...merged('annotations'), ...merged('labels') };
}

function bound(
  context: ServerContext,
  call: ApiCall,
  parts: { readonly stored: JsonObject; readonly binding: JsonObject },
): JsonObject {
  const { stored, binding } = parts;
  const spec = objectField(stored, 'spec');
  const assigned = textField(spec, 'nodeName');
  const { row, name } = call.route;
  if (assigned !== '') {
    throw conflict(row, name, `pod ${name} is already assigned to node "${assigned}"`);
  }
  const status = objectField(stored, 'status');
  const others = arrayField(status, 'conditions').filter(
    (condition) => !isJsonObject(condition) || condition['type'] !== 'PodScheduled',
  );
  const scheduled = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timestamp(context.clock.now()),
  };
  return {
    ...stored,
    metadata: boundMetadata(stored, binding),
    spec: { ...spec, nodeName: targetOf(binding) },
    status: { ...status, conditions: [...others, scheduled] },
  };
}
