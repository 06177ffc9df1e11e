import { isJsonObject, type JsonObject } from '#base/json.ts';
import { type Millis, seconds } from '#base/units.ts';
import {
  arrayField,
  metadataOf,
  numberField,
  objectField,
  textField,
  textsField,
} from '../json/json-fields.ts';
import { type LabelSelector, labelSelectorOf } from '../selector/label-selector.ts';

/** One rule of a webhook: all of its members must match (AD-3). */
export interface WebhookRule {
  readonly operations: readonly string[];
  readonly groups: readonly string[];
  readonly versions: readonly string[];
  /** Such as `pods` and `pods/*`. */
  readonly resources: readonly string[];
  readonly scope: string;
}

/** One webhook of a stored configuration, with its defaults. */
export interface Webhook {
  /** Distinguishes it from all others; stable while its configuration is. */
  readonly id: string;
  readonly name: string;
  readonly rules: readonly WebhookRule[];
  readonly isIgnoredOnFailure: boolean;
  readonly matchesEquivalents: boolean;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly sideEffects: string;
  readonly timeout: Millis;
  /** Whether it is called again when a later one changes the object (AD-9). */
  readonly isReinvoked: boolean;
  /** `clientConfig` as stored. */
  readonly client: JsonObject;
}

/** Returns the webhooks of `configurations`, which come in the order of their names, in the order of their calls (AD-1). */
export function webhooksOf(configurations: readonly JsonObject[]): readonly Webhook[] {
  return configurations.flatMap((configuration) => {
    const owner = textField(metadataOf(configuration), 'name');
    return arrayField(configuration, 'webhooks')
      .filter(isJsonObject)
      .map((webhook) => webhookOf(owner, webhook));
  });
}

function webhookOf(configuration: string, webhook: JsonObject): Webhook {
  const name = textField(webhook, 'name');
  return {
    id: `${configuration}/${name}`,
    name,
    rules: arrayField(webhook, 'rules').filter(isJsonObject).map(ruleOf),
    isIgnoredOnFailure: textField(webhook, 'failurePolicy') === 'Ignore',
    matchesEquivalents: textField(webhook, 'matchPolicy') === 'Equivalent',
    namespaceSelector: labelSelectorOf(objectField(webhook, 'namespaceSelector')),
    objectSelector: labelSelectorOf(objectField(webhook, 'objectSelector')),
    sideEffects: textField(webhook, 'sideEffects'),
    timeout: seconds(numberField(webhook, 'timeoutSeconds') ?? 10),
    isReinvoked: textField(webhook, 'reinvocationPolicy') === 'IfNeeded',
    client: objectField(webhook, 'clientConfig'),
  };
}

function ruleOf(rule: JsonObject): WebhookRule {
  return {
    operations: textsField(rule, 'operations'),
    groups: textsField(rule, 'apiGroups'),
    versions: textsField(rule, 'apiVersions'),
    resources: textsField(rule, 'resources'),
    scope: textField(rule, 'scope'),
  };
}
