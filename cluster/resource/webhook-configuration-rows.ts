import type { ResourceType } from '#kubernetes/resource-type.ts';
import { listAt } from '../json/members.ts';
import type { ResourceRow } from '../resource-row.ts';
import {
  mutatingWebhookConfiguration,
  validatingWebhookConfiguration,
} from '../schema/admission-kinds.ts';
import { ageColumn, integer, nameColumn } from './columns/column.ts';
import { defaultMutatingWebhooks, defaultValidatingWebhooks } from './defaults/default-webhook.ts';
import { defineRow, type RowDefinition } from './define-row.ts';
import { validateWebhooks } from './validation/validate-webhook.ts';

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
