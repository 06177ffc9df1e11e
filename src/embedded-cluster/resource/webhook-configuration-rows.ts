import type { ResourceRow } from '#embedded-cluster/resource-row.ts';
import {
  mutatingWebhookConfiguration,
  validatingWebhookConfiguration,
} from '#embedded-cluster/schema/admission-kinds.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import { ageColumn, integer, nameColumn } from './columns/column.ts';
import { defaultMutatingWebhooks, defaultValidatingWebhooks } from './default-webhook.ts';
import { defineRow, type RowDefinition } from './define-row.ts';
import { listAt } from './members.ts';
import { validateWebhooks } from './validate-webhook.ts';

function typeOf(kind: string): ResourceType {
  return Object.freeze({
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: `${kind.toLowerCase()}s`,
    kind,
    isNamespaced: false,
  });
}

const columns = Object.freeze([
  nameColumn,
  integer('Webhooks', (object) => listAt(object, 'webhooks').length),
  ageColumn,
]);

function configurationRow(
  kind: string,
  { schema, withDefaults }: Pick<RowDefinition, 'schema' | 'withDefaults'>,
): ResourceRow {
  return defineRow({
    type: typeOf(kind),
    singular: kind.toLowerCase(),
    categories: ['api-extensions'],
    schema,
    columns,
    hasGeneration: true,
    ...(withDefaults === undefined ? {} : { withDefaults }),
    validate: validateWebhooks,
  });
}

/** MutatingWebhookConfigurations and ValidatingWebhookConfigurations (SR-1). */
export const webhookConfigurationRows: readonly ResourceRow[] = Object.freeze([
  configurationRow('MutatingWebhookConfiguration', {
    schema: mutatingWebhookConfiguration,
    withDefaults: defaultMutatingWebhooks,
  }),
  configurationRow('ValidatingWebhookConfiguration', {
    schema: validatingWebhookConfiguration,
    withDefaults: defaultValidatingWebhooks,
  }),
]);
