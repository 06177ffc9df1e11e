import type { JsonObject } from '#base/json.ts';
import { metadataOf, objectField, textField, textMapField } from '../../json/json-fields.ts';
import type { Version } from '../../store/version.ts';
import { collectionOf } from '../request/commit.ts';
import type { ApiCall, ServerContext } from '../request/server-context.ts';

/** Collections above this size answer label selectors from an index (ST-7). */
const INDEXED_FROM = 1_000;

/** Which objects of the route's collection a request is about. */
export interface Selection {
  /** Undefined: all. */
  readonly matches: ((object: JsonObject) => boolean) | undefined;
  readonly labelSelector: string;
  readonly fieldSelector: string;
}

/** Reads the selectors of a request; a name in the path counts as one (LW-12). @throws {StatusError} 400 */
export function selectionOf(context: ServerContext, call: ApiCall): Selection {
  const { query, row, name } = call.route;
  const labelSelector = query.get('labelSelector') ?? '';
  const fieldSelector = query.get('fieldSelector') ?? '';
  const checks: ((object: JsonObject) => boolean)[] = [];
  if (name !== '') checks.push((object) => textField(metadataOf(object), 'name') === name);
  if (fieldSelector !== '') {
    checks.push(context.rules.parseFieldSelector(fieldSelector, row));
  }
  if (labelSelector !== '') {
    const matchesLabels = context.rules.parseLabelSelector(labelSelector);
    checks.push((object) => matchesLabels(textMapField(metadataOf(object), 'labels')));
  }
  const matches = checks.length === 0 ? undefined : allOf(checks);
  return { matches, labelSelector, fieldSelector };
}

function allOf(
  checks: readonly ((object: JsonObject) => boolean)[],
): (object: JsonObject) => boolean {
  const [only] = checks;
  if (checks.length === 1 && only !== undefined) return only;
  return (object) => checks.every((check) => check(object));
}

/** Returns the versions of the present that may match: from an index where one helps, in key order. */
export function candidates(
  context: ServerContext,
  call: ApiCall,
  selection: Selection,
): readonly Version[] {
  const { namespace } = call.route;
  const collection = collectionOf(context, call);
  const found = indexedCandidates(context, call, selection);
  if (found === undefined) return collection.list(namespace);
  if (namespace === '') return found;
  return found.filter(({ key }) => key.startsWith(`${namespace}/`));
}

function indexedCandidates(
  context: ServerContext,
  call: ApiCall,
  selection: Selection,
): readonly Version[] | undefined {
  const collection = collectionOf(context, call);
  const node = /(?:^|,)spec\.nodeName==?([^,]+)/.exec(selection.fieldSelector)?.[1];
  if (node !== undefined) return collection.indexed(NODE_INDEX, node);
  if (collection.size <= INDEXED_FROM) return undefined;
  const [, key, value] = /^([^=!,() ]+)==?([^=!,() ]+)(?:,|$)/.exec(selection.labelSelector) ?? [];
  if (key === undefined || value === undefined) return undefined;
  return collection.indexed(labelIndex(key), value);
}

const NODE_INDEX = {
  name: 'spec.nodeName',
  keysOf: (object: JsonObject): readonly string[] => {
    const node = textField(objectField(object, 'spec'), 'nodeName');
    return node === '' ? [] : [node];
  },
};

function labelIndex(key: string): {
  readonly name: string;
  readonly keysOf: (object: JsonObject) => readonly string[];
} {
  return {
    name: `label ${key}`,
    keysOf: (object) => {
      const value = objectField(metadataOf(object), 'labels')[key];
      return typeof value === 'string' ? [value] : [];
    },
  };
}
