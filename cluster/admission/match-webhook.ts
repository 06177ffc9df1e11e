import type { JsonObject } from '#base/json.ts';
import { namespaceNotFound } from '../errors/status-errors.ts';
import { metadataOf, textMapField } from '../json/json-fields.ts';
import type { ResourceRow } from '../resource-row.ts';
import type { AdmissionAttributes, ServerContext } from '../rest/request/server-context.ts';
import { isNamespaceRow } from '../rest/verbs/namespace-lifecycle.ts';
import type { LabelSelector } from '../selector/label-selector.ts';
import { equivalentRows } from './equivalent-rows.ts';
import { type RuleTarget, ruleMatches } from './match-rule.ts';
import type { Webhook } from './webhook.ts';

/** A webhook that is to be called, and the row whose type it is shown. */
export interface Invocation {
  readonly webhook: Webhook;
  readonly row: ResourceRow;
}

/** Returns the row that the client asked for. */
export function requestRow({ call }: AdmissionAttributes): ResourceRow {
  return call.shownRow ?? call.route.row;
}

/** Returns the namespace of the request; a namespace is in itself. */
export function namespaceOf({ call, name }: AdmissionAttributes): string {
  return isNamespaceRow(call.route.row) ? name : call.route.namespace;
}

/**
 * Returns how `webhook` is called for `attributes`; undefined where it is not (AD-3).
 *
 * @throws {StatusError} 404 for a namespace that is gone
 */
export function invocationOf(
  context: ServerContext,
  webhook: Webhook,
  attributes: AdmissionAttributes,
): Invocation | undefined {
  // Selectors of labels come last: the namespace must be looked up only for what the rules are about.
  const row = ruledRow(context, webhook, attributes);
  if (row === undefined) return undefined;
  if (!objectMatches(webhook.objectSelector, attributes)) return undefined;
  if (!namespaceMatches(context, webhook.namespaceSelector, attributes)) return undefined;
  return { webhook, row };
}

function ruledRow(
  context: ServerContext,
  webhook: Webhook,
  attributes: AdmissionAttributes,
): ResourceRow | undefined {
  const asked = requestRow(attributes);
  const target = {
    operation: attributes.operation,
    subresource: attributes.call.route.subresource?.name ?? '',
    namespace: namespaceOf(attributes),
  };
  const isAbout = (row: ResourceRow): boolean => isRuled(webhook, { ...target, type: row.type });
  if (isAbout(asked)) return asked;
  if (!webhook.matchesEquivalents) return undefined;
  return equivalentRows(context.rows, asked).find(isAbout);
}

function isRuled(webhook: Webhook, target: RuleTarget): boolean {
  return webhook.rules.some((rule) => ruleMatches(rule, target));
}

function isEmpty(selector: LabelSelector): boolean {
  return selector.requirements.length === 0;
}

/** Reports whether the labels of the old or the new object match; a Scale has none (AD-4). */
function objectMatches(selector: LabelSelector, attributes: AdmissionAttributes): boolean {
  if (isEmpty(selector)) return true;
  return [attributes.object, attributes.oldObject].some(
    (object) => object !== undefined && selector.matches(labelsOf(object)),
  );
}

function labelsOf(object: JsonObject): Readonly<Record<string, string>> {
  return textMapField(metadataOf(object), 'labels');
}

/** Reports whether the namespace matches: what is in none is never exempt, but for namespaces themselves (AD-4). */
function namespaceMatches(
  context: ServerContext,
  selector: LabelSelector,
  attributes: AdmissionAttributes,
): boolean {
  const name = namespaceOf(attributes);
  const { row, subresource } = attributes.call.route;
  const isNamespace = isNamespaceRow(row);
  if ((name === '' && !isNamespace) || isEmpty(selector)) return true;
  // What is about to be stored is not there yet, or carries old labels.
  if (isNamespace && subresource === undefined && attributes.object !== undefined) {
    return selector.matches(labelsOf(attributes.object));
  }
  const stored = context.store.collection('namespaces').get(name);
  if (stored === undefined) throw namespaceNotFound(name);
  return selector.matches(labelsOf(stored.object));
}
