import { isJsonObject, type JsonObject } from '#base/json.ts';
import {
  type At,
  type BedrockFields,
  dnsLabel,
  member,
  members,
  type TextRule,
} from './bedrock-fields.ts';
import type { Workload } from './bedrock-file.ts';
import { seen } from './finding.ts';
import { containersOf } from './parse-containers.ts';

/** Keys that a service has, and a stage in place of its service. */
export const workloadKeys = [
  'kind',
  'notify_settings',
  'disruption_policy',
  'containers',
  'service_name',
  'labels',
  'annotations',
  'volume_claim_templates',
  'pod_spec',
] as const;

/** Label of the version, which the Slack messages and the status show. */
export const versionLabel = 'app.kubernetes.io/version';
/** Labels that are written by the conversion itself. */
const ownLabels: readonly string[] = ['app', versionLabel];
const levels = ['debug', 'info', 'error'] as const;
const mostInt32 = 2_147_483_647;

const qualifiedName =
  /^(?:(?=.{1,253}\/)[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?$/;
const labelValue: TextRule = {
  pattern: /^(?:[A-Za-z0-9](?:[-\w.]*[A-Za-z0-9])?)?$/,
  wanted: 'must be a text of at most 63 letters, digits, "-", "_" and "."',
  most: 63,
};
const annotationValue: TextRule = { pattern: /^/, wanted: 'must be a text', most: 256 * 1_024 };

/** Returns what is at `at` of a service, or of a stage; what it does not say is left out. */
export function workloadOf(
  at: At,
  images: ReadonlySet<string>,
  fields: BedrockFields,
): Partial<Workload> {
  const containers = containersOf(member(at, 'containers'), images, fields);
  const maxUnavailable = maxUnavailableOf(member(at, 'disruption_policy'), fields);
  const notify = notifyOf(member(at, 'notify_settings'), fields);
  const serviceName = fields.text(member(at, 'service_name'), dnsLabel);
  const labels = marksOf(member(at, 'labels'), labelValue, fields);
  const annotations = marksOf(member(at, 'annotations'), annotationValue, fields);
  const volumeClaimTemplates = claimsOf(member(at, 'volume_claim_templates'), fields);
  const podSpec = podSpecOf(member(at, 'pod_spec'), fields);
  refuseOwnLabels(member(at, 'labels'), fields);
  return {
    ...(containers !== undefined && { containers }),
    ...(maxUnavailable !== undefined && { maxUnavailable }),
    ...(notify !== undefined && { notify }),
    ...(serviceName !== undefined && { serviceName }),
    ...(labels !== undefined && { labels }),
    ...(annotations !== undefined && { annotations }),
    ...(volumeClaimTemplates !== undefined && { volumeClaimTemplates }),
    ...(podSpec !== undefined && { podSpec }),
  };
}

/** Reads how many pods may be away (H-14); 0 would let no rollout ever move. */
function maxUnavailableOf(policy: At, fields: BedrockFields): number | string | undefined {
  fields.map(policy);
  fields.onlyKeys(policy, ['max_unavailable']);
  const at = member(policy, 'max_unavailable');
  const { value } = at;
  if (value === undefined) return undefined;
  if (typeof value === 'string' && /^(?:[1-9]\d?|100)%$/.test(value)) return value;
  const isCount = typeof value === 'number' && Number.isInteger(value);
  if (isCount && value >= 1 && value <= mostInt32) return value;
  const wanted = 'must be "1%" to "100%", or an integer of 1 or more';
  const isNone = [0, '0', '0%'].some((none) => none === value);
  return fields.refuse(at, isNone ? `${wanted}, as with 0 no rollout could ever move` : wanted);
}

function notifyOf(settings: At, fields: BedrockFields): Workload['notify'] | undefined {
  if (fields.map(settings) === undefined) return undefined;
  fields.onlyKeys(settings, ['release', 'launch']);
  const release = member(settings, 'release');
  const launch = member(settings, 'launch');
  if (release.value !== undefined && launch.value !== undefined)
    fields.fail(launch.path, 'is another word for release: only one of them can be there');
  const target = release.value === undefined ? launch : release;
  fields.map(target);
  fields.onlyKeys(target, ['level', 'channel']);
  const channel = fields.text(member(target, 'channel'), {
    pattern: /^(?:#\S+|[CGD][A-Z0-9]{7,})$/,
    wanted: 'must be "#" and the name of a channel, or the id of a conversation',
    most: 81,
  });
  const level = levelOf(member(target, 'level'), fields);
  return { ...(channel !== undefined && { channel }), ...(level !== undefined && { level }) };
}

function levelOf(at: At, fields: BedrockFields): string | undefined {
  if (at.value === undefined) return undefined;
  const found = levels.find((level) => level === at.value);
  return found ?? fields.refuse(at, `must be one of ${levels.join(', ')}`);
}

function marksOf(
  at: At,
  rule: TextRule,
  fields: BedrockFields,
): Readonly<Record<string, string>> | undefined {
  const map = fields.map(at);
  if (map === undefined) return undefined;
  const entries = members(map, at.path).flatMap((each) => {
    if (!qualifiedName.test(each.key))
      fields.fail(each.path, 'must have a name such as tier or example.com/tier');
    // Text alone: `yes` and `1.10` would come back as something else.
    const value = fields.text(each, rule);
    return value === undefined ? [] : [[each.key, value] as const];
  });
  return Object.fromEntries(entries);
}

function refuseOwnLabels(at: At, fields: BedrockFields): void {
  for (const label of ownLabels) {
    const { value, path } = member(at, label);
    if (value === undefined) continue;
    const whence = label === 'app' ? 'the service and the stage' : '--version';
    fields.fail(path, `is made of ${whence}, and cannot be given: got ${seen(value)}`);
  }
}

function claimsOf(at: At, fields: BedrockFields): readonly JsonObject[] | undefined {
  const items = fields.list(at);
  return items?.flatMap((each) => {
    const { value } = each;
    if (isJsonObject(value)) return [value];
    fields.refuse(each, 'must be a PersistentVolumeClaim');
    return [];
  });
}

function podSpecOf(at: At, fields: BedrockFields): JsonObject | undefined {
  const spec = fields.map(at);
  const { path, value } = member(at, 'containers');
  if (value !== undefined)
    fields.fail(path, 'cannot be here: the key next to pod_spec is for them');
  fields.list(member(at, 'initContainers'));
  return spec;
}
