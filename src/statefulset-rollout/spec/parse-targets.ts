import type { JsonObject } from '#base/json.ts';
import type { CallbackTarget, SlackTarget, StatefulsetRolloutSpec } from '../api.ts';
import type { RolloutFields, TextRule } from './rollout-fields.ts';

const channelRule: TextRule = {
  pattern: /^(?:#\S+|[CGD][A-Z0-9]{7,})$/,
  wanted: 'must be "#" and the name of a channel, or the id of a conversation',
  most: 81,
};
const urlRule: TextRule = {
  pattern: /^https?:\/\/[^@/?#]+(?:[/?][^#]*)?$/,
  wanted: 'must be a URL of http or https without a user and without a fragment',
  most: 2_048,
};
const stageRule: TextRule = {
  // Of dots alone it would name another place of the receiver.
  pattern: /^(?!\.{1,2}$)[A-Za-z0-9._:-]+$/,
  wanted: 'must have 1 to 128 letters, digits, ".", "_", ":" and "-", and not be "." or ".."',
  most: 128,
};
const datacenterRule: TextRule = {
  pattern: /^[A-Za-z0-9_-]+$/,
  wanted: 'must have 1 to 64 letters, digits, "_" and "-"',
  most: 64,
};
const serviceRule: TextRule = {
  pattern: /^[^/?#\s]+$/,
  wanted: 'must have 1 to 128 characters, and no "/", "?", "#" or space',
  most: 128,
};
const enterpriseRule: TextRule = { ...datacenterRule, most: 64 };
const mostServices = 20;

/** Returns where the progress is reported, if anywhere. */
export function slackOf(
  spec: JsonObject,
  fields: RolloutFields,
): Pick<StatefulsetRolloutSpec, 'slack'> {
  const path = 'spec.notifications.slack';
  const notifications = fields.object(spec, 'spec.notifications') ?? {};
  const slack = fields.object(notifications, path) ?? {};
  const published = fields.matching(spec, 'spec.channel', channelRule);
  const named = fields.matching(slack, `${path}.channel`, channelRule);
  if (published !== undefined && named !== undefined && published !== named)
    fields.refuse(`${path}.channel`, 'must be as spec.channel where both are there', named);
  const level = fields.choice(slack, `${path}.level`, ['debug', 'info', 'error']);
  const token = fields.secret(slack, `${path}.tokenSecretRef`);
  const channel = published ?? named;
  if (channel === undefined) return {};
  const target: SlackTarget = { channel, level, ...(token !== undefined && { token }) };
  return { slack: target };
}

/** Returns the receiver that is called back, if any. */
export function callbackOf(
  spec: JsonObject,
  fields: RolloutFields,
): Pick<StatefulsetRolloutSpec, 'callback'> {
  const path = 'spec.callback.webhook';
  const bapi = fields.object(spec, 'spec.bapi');
  const webhook = fields.object(fields.object(spec, 'spec.callback') ?? {}, path);
  if (bapi !== undefined && webhook !== undefined)
    fields.refuse(path, 'cannot be set together with spec.bapi: one receiver is called', webhook);
  const signingKey = fields.secret(webhook ?? {}, `${path}.signingSecretRef`);
  if (bapi !== undefined) return { callback: stageOf(bapi, fields) };
  if (webhook === undefined) return {};
  const url = fields.required(webhook, `${path}.url`, urlRule);
  const stageId = fields.required(webhook, `${path}.id`, stageRule);
  return { callback: { url, stageId, ...(signingKey !== undefined && { signingKey }) } };
}

function stageOf(bapi: JsonObject, fields: RolloutFields): CallbackTarget {
  const base = fields.required(bapi, 'spec.bapi.bapiUrl', urlRule);
  const stageId = fields.required(bapi, 'spec.bapi.stageId', stageRule);
  // What is behind a "?" stays there: appended to it, the path would be none.
  const [place = '', ...query] = base.split(/(?=\?)/);
  const path = `/v1/stages/${encodeURIComponent(stageId)}/callback`;
  return { url: `${place.replace(/\/$/, '')}${path}${query.join('')}`, stageId };
}

/** Returns what service discovery must say of pods, if anything. */
export function discoveryOf(
  spec: JsonObject,
  fields: RolloutFields,
): Pick<StatefulsetRolloutSpec, 'discovery'> {
  const path = 'spec.serviceDiscovery';
  const discovery = fields.object(spec, path);
  if (discovery === undefined) return {};
  const datacenter = fields.matching(discovery, `${path}.dc`, datacenterRule);
  const provider = fields.word(discovery, `${path}.provider`, ['consul', 'none']);
  const services = servicesOf(discovery, provider === 'consul', fields);
  const consul = fields.object(discovery, `${path}.consul`) ?? {};
  const token = fields.secret(consul, `${path}.consul.tokenSecretRef`);
  const namespace = fields.matching(consul, `${path}.consul.namespace`, enterpriseRule);
  const partition = fields.matching(consul, `${path}.consul.partition`, enterpriseRule);
  const onError = fields.word(consul, `${path}.consul.onError`, ['Block', 'Ignore']);
  if (provider === 'none') return {};
  return {
    discovery: {
      services,
      onError,
      ...(datacenter !== undefined && { datacenter }),
      ...(token !== undefined && { token }),
      ...(namespace !== undefined && { namespace }),
      ...(partition !== undefined && { partition }),
    },
  };
}

function servicesOf(
  discovery: JsonObject,
  isNeeded: boolean,
  fields: RolloutFields,
): readonly string[] {
  const path = 'spec.serviceDiscovery.serviceNames';
  const written = discovery['serviceNames'] ?? undefined;
  if (written === undefined && !isNeeded) return [];
  const least = isNeeded ? 1 : 0;
  const isList =
    Array.isArray(written) && written.length >= least && written.length <= mostServices;
  if (!isList) {
    fields.refuse(path, `must be a list of ${least} to ${mostServices} names`, written);
    return [];
  }
  const names = Object.fromEntries(written.map((name, at) => [`${at}`, name]));
  const services = written.map((_, at) => fields.required(names, `${path}.${at}`, serviceRule));
  if (new Set(services).size < services.length)
    fields.refuse(path, 'must have each name once', services.join(', '));
  return services;
}
