import type { JsonObject } from '#base/json.ts';

/** A rule that the API server carries out, in its own language. */
export type Rule = {
  readonly rule: string;
  /** Names the field, and what would be right. */
  readonly message: string;
  readonly fieldPath?: string;
};

/** Returns `schema` with `rules`. */
export function ruled(schema: JsonObject, ...rules: readonly Rule[]): JsonObject {
  return { ...schema, 'x-kubernetes-validations': rules };
}

/** Returns the rule of URLs: `@` before the path would name a user. */
export function urlRule(field: string): Rule {
  return {
    rule: `self.${field}.matches('^https?://[^@/?#]+([/?][^#]*)?$')`,
    message: `${field} must be a URL of http or https without a user and without a fragment`,
    fieldPath: `.${field}`,
  };
}

/** Holds for the metadata of the carried set. */
export const nameRule: Rule = {
  rule: 'self.name == oldSelf.name',
  message: 'name cannot be changed',
  fieldPath: '.name',
};

/** Hold for the carried set. */
export const setRules: readonly Rule[] = [
  {
    rule: "self.apiVersion == 'apps/v1' && self.kind == 'StatefulSet'",
    message: 'statefulset must be a StatefulSet of apps/v1',
  },
  {
    rule: "!has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.type) || self.spec.updateStrategy.type == 'OnDelete'",
    message: 'updateStrategy.type must be OnDelete, or left out',
    fieldPath: '.spec.updateStrategy.type',
  },
  {
    rule: '!has(self.spec.replicas) || self.spec.replicas >= 0',
    message: 'replicas must be 0 or more',
    fieldPath: '.spec.replicas',
  },
];

/** Holds for service discovery. */
export const discoveryRule: Rule = {
  rule: "(has(self.provider) && self.provider == 'none') || (has(self.serviceNames) && self.serviceNames.size() > 0)",
  message: 'serviceNames must have at least one name, unless provider is none',
  fieldPath: '.serviceNames',
};

/** Holds for what is done about leaked pods. */
export const repairRule: Rule = {
  rule: "!has(self.repair) || !self.repair || (has(self.policy) && self.policy == 'Pin')",
  message: 'repair needs policy Pin',
  fieldPath: '.repair',
};

/** Hold for the spec as a whole. */
export const specRules: readonly Rule[] = [
  {
    rule: '!has(self.channel) || !has(self.notifications) || !has(self.notifications.slack) || !has(self.notifications.slack.channel) || self.channel == self.notifications.slack.channel',
    message: 'channel and notifications.slack.channel must be equal where both are set',
    fieldPath: '.channel',
  },
  {
    rule: '!has(self.bapi) || !has(self.callback) || !has(self.callback.webhook)',
    message: 'bapi and callback.webhook cannot both be set: one receiver is called',
    fieldPath: '.callback',
  },
];
