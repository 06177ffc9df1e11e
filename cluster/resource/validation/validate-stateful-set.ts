import type { JsonObject, JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import type { Cause } from '../../errors/status-error.ts';
import { isSameJson } from '../../json/json-fields.ts';
import { emptyObject, listAt, objectAt, textAt } from '../../json/members.ts';
import { type Labels, labelSelectorOf } from '../../selector/label-selector.ts';
import { forbiddenField, invalidValue, negativeCauses, notSupported, required } from './causes.ts';
import { intOrPercentCauses } from './int-or-percent.ts';
import { collectLabelCauses, labelName, validateMetadata } from './validate-metadata.ts';
import { validatePodSpec } from './validate-pod-spec.ts';
import { validateSelector } from './validate-selector.ts';

/** Causes why a StatefulSet may not be stored; most of its spec never changes (OB-17). */
export function validateStatefulSet(
  set: JsonObject,
  old: JsonObject | undefined,
): readonly Cause[] {
  const spec = objectAt(set, 'spec') ?? emptyObject;
  return [
    ...validateMetadata(set, labelName),
    ...numberCauses(spec),
    ...policyCauses(spec),
    ...selectorCauses(spec),
    ...templateCauses(spec),
    ...(old === undefined ? [] : changeCauses(spec, objectAt(old, 'spec') ?? emptyObject)),
    ...statusCauses(objectAt(set, 'status') ?? emptyObject),
  ];
}

const statusCounts = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'];

function statusCauses(status: JsonObject): readonly Cause[] {
  const count = (name: string): number => {
    const value = status[name];
    return typeof value === 'number' ? value : 0;
  };
  const tooMany = (name: string, than: string): readonly Cause[] =>
    count(name) > count(than)
      ? [invalidValue(`status.${name}`, count(name), `cannot be greater than status.${than}`)]
      : [];
  return [
    ...['replicas', ...statusCounts, 'observedGeneration', 'collisionCount'].flatMap((name) =>
      negativeCauses(`status.${name}`, status[name]),
    ),
    ...statusCounts.flatMap((name) => tooMany(name, 'replicas')),
    ...tooMany('availableReplicas', 'readyReplicas'),
  ];
}

function numberCauses(spec: JsonObject): readonly Cause[] {
  return [
    ...negativeCauses('spec.replicas', spec['replicas']),
    ...negativeCauses('spec.minReadySeconds', spec['minReadySeconds']),
    ...negativeCauses('spec.revisionHistoryLimit', spec['revisionHistoryLimit']),
    ...negativeCauses('spec.ordinals.start', objectAt(spec, 'ordinals')?.['start']),
  ];
}

function policyCauses(spec: JsonObject): readonly Cause[] {
  const management = textAt(spec, 'podManagementPolicy');
  const isKnown = ['', 'OrderedReady', 'Parallel'].includes(management);
  const rule = "must be 'OrderedReady' or 'Parallel'";
  return [
    ...(isKnown ? [] : [invalidValue('spec.podManagementPolicy', management, rule)]),
    ...strategyCauses(objectAt(spec, 'updateStrategy') ?? emptyObject),
    ...retentionCauses(objectAt(spec, 'persistentVolumeClaimRetentionPolicy')),
  ];
}

function strategyCauses(strategy: JsonObject): readonly Cause[] {
  const rollingUpdate = objectAt(strategy, 'rollingUpdate');
  const path = 'spec.updateStrategy';
  switch (textAt(strategy, 'type')) {
    case 'OnDelete':
      return rollingUpdate === undefined
        ? []
        : [
            invalidValue(
              `${path}.rollingUpdate`,
              rollingUpdate,
              "only allowed for updateStrategy 'RollingUpdate'",
            ),
          ];
    case 'RollingUpdate':
      return rollingUpdate === undefined ? [] : rollingUpdateCauses(rollingUpdate);
    case '':
      return [required(path)];
    default:
      return [invalidValue(path, strategy, "must be 'RollingUpdate' or 'OnDelete'")];
  }
}

function rollingUpdateCauses({ partition, maxUnavailable }: JsonObject): readonly Cause[] {
  const path = 'spec.updateStrategy.rollingUpdate';
  const field = `${path}.maxUnavailable`;
  return [
    ...negativeCauses(`${path}.partition`, partition),
    ...intOrPercentCauses(field, maxUnavailable),
    ...(isZero(maxUnavailable) ? [invalidValue(field, maxUnavailable, 'cannot be 0')] : []),
  ];
}

function isZero(value: JsonValue | undefined): boolean {
  return value === 0 || (typeof value === 'string' && /^0+%$/.test(value));
}

function retentionCauses(policy: JsonObject | undefined): readonly Cause[] {
  return ['whenDeleted', 'whenScaled'].flatMap((member) => {
    const value = textAt(policy, member);
    if (['', 'Retain', 'Delete'].includes(value)) return [];
    const field = `spec.persistentVolumeClaimRetentionPolicy.${member}`;
    return [notSupported(field, value, ['Retain', 'Delete'])];
  });
}

function selectorCauses(spec: JsonObject): readonly Cause[] {
  const selector = objectAt(spec, 'selector');
  if (selector === undefined) return [required('spec.selector')];
  const causes = validateSelector(selector, 'spec.selector');
  if (causes.length > 0) return causes;
  const { requirements, matches } = labelSelectorOf(selector);
  if (requirements.length === 0) {
    return [invalidValue('spec.selector', selector, 'empty selector is invalid for statefulset')];
  }
  const labels =
    objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels') ?? emptyObject;
  if (matches(labelsOf(labels))) return [];
  const detail = '`selector` does not match template `labels`';
  return [invalidValue('spec.template.metadata.labels', labels, detail)];
}

function labelsOf(labels: JsonObject): Labels {
  return Object.fromEntries(Object.keys(labels).map((key) => [key, textAt(labels, key)]));
}

function templateCauses(spec: JsonObject): readonly Cause[] {
  const template = objectAt(spec, 'template');
  const podSpec = objectAt(template, 'spec') ?? emptyObject;
  const causes: Cause[] = [];
  collectLabelCauses(objectAt(template, 'metadata'), 'spec.template', causes);
  const path = 'spec.template.spec';
  const policy = textAt(podSpec, 'restartPolicy');
  if (policy !== 'Always') causes.push(notSupported(`${path}.restartPolicy`, policy, ['Always']));
  if (podSpec['activeDeadlineSeconds'] !== undefined) {
    const detail = 'activeDeadlineSeconds in StatefulSet is not Supported';
    causes.push(forbiddenField(`${path}.activeDeadlineSeconds`, detail));
  }
  const claimNames = listAt(spec, 'volumeClaimTemplates').map((claim) =>
    textAt(isJsonObject(claim) ? objectAt(claim, 'metadata') : undefined, 'name'),
  );
  const ofSpec = validatePodSpec(podSpec, { path, claimNames });
  return [...causes, ...ofSpec.filter(({ field }) => field !== `${path}.restartPolicy`)];
}

const immutableSpec =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
const immutableMembers = [
  'selector',
  'serviceName',
  'podManagementPolicy',
  'volumeClaimTemplates',
] as const;

function changeCauses(spec: JsonObject, old: JsonObject): readonly Cause[] {
  const isSame = immutableMembers.every((member) => isSameJson(spec[member], old[member]));
  return isSame ? [] : [forbiddenField('spec', immutableSpec)];
}
