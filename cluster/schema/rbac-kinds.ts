import { fields, kept, list, text } from './field-schema.ts';
import { kindOf, labelSelector } from './metadata.ts';

const rules = list(
  fields({
    verbs: list(kept(text)),
    apiGroups: list(kept(text)),
    resources: list(kept(text)),
    resourceNames: list(kept(text)),
    nonResourceURLs: list(kept(text)),
  }),
);

const roleRef = fields({ apiGroup: kept(text), kind: kept(text), name: kept(text) });
const subjects = list(
  fields({ kind: kept(text), apiGroup: text, name: kept(text), namespace: text }),
);

/** Role. */
export const role = kindOf({ rules });

/** ClusterRole. */
export const clusterRole = kindOf({
  rules,
  aggregationRule: fields({ clusterRoleSelectors: list(labelSelector) }),
});

/** RoleBinding and ClusterRoleBinding. */
export const roleBinding = kindOf({ subjects, roleRef });
