import type { JsonObject } from '#base/json.ts';
import type { ResourceRow } from '../resource-row.ts';
import { fields, int, kept, text, time } from '../schema/field-schema.ts';
import { kindOf, objectReference } from '../schema/metadata.ts';
import { eventColumns } from './columns/core-columns.ts';
import { defineRow } from './define-row.ts';

const STORED_VERSION = 'v1';
const VIEW_VERSION = 'events.k8s.io/v1';

/** Members of `events.k8s.io/v1` and what the core group calls them. */
const STORED_NAMES: Readonly<Record<string, string>> = Object.freeze({
  regarding: 'involvedObject',
  note: 'message',
  reportingController: 'reportingComponent',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
});

const VIEW_NAMES: Readonly<Record<string, string>> = Object.freeze(
  Object.fromEntries(Object.entries(STORED_NAMES).map(([view, stored]) => [stored, view])),
);

function renamed(
  object: JsonObject,
  names: Readonly<Record<string, string>>,
  apiVersion: string,
): JsonObject {
  const members = Object.entries(object).map(([name, value]): readonly [string, typeof value] => [
    names[name] ?? name,
    name === 'apiVersion' ? apiVersion : value,
  ]);
  return Object.fromEntries(members);
}

/** Returns an Event of `events.k8s.io/v1` as it is stored, with the members that this version does not have. */
export function storedEvent(event: JsonObject): {
  readonly object: JsonObject;
  readonly unknown: readonly string[];
} {
  const unknown = Object.keys(event).filter((name) => VIEW_NAMES[name] !== undefined);
  const known = Object.fromEntries(
    Object.entries(event).filter(([name]) => VIEW_NAMES[name] === undefined),
  );
  // A client that says which version it means must mean this one; the stored row checks for its own.
  const apiVersion = event['apiVersion'] === VIEW_VERSION ? STORED_VERSION : VIEW_VERSION;
  return { object: renamed(known, STORED_NAMES, apiVersion), unknown };
}

/** Returns a stored Event as `events.k8s.io/v1` shows it. */
export function viewedEvent(event: JsonObject): JsonObject {
  return renamed(event, VIEW_NAMES, VIEW_VERSION);
}

/** Returns the name in the store of a path whose first step is a member, such as `regarding.name`. */
export function storedEventPath(path: string): string {
  const [first = '', ...rest] = path.split('.');
  return [STORED_NAMES[first] ?? first, ...rest].join('.');
}

/** Events of the group `events.k8s.io`: the same objects as those of the core group, under other names (SR-1). */
export const eventViewRow: ResourceRow = Object.freeze({
  ...defineRow({
    type: {
      group: 'events.k8s.io',
      version: 'v1',
      plural: 'events',
      kind: 'Event',
      isNamespaced: true,
    },
    singular: 'event',
    shortNames: ['ev'],
    columns: eventColumns,
    schema: kindOf({
      eventTime: time,
      series: fields({ count: int, lastObservedTime: time }),
      reportingController: kept(text),
      reportingInstance: kept(text),
      action: text,
      reason: text,
      regarding: objectReference,
      related: objectReference,
      note: text,
      type: text,
      deprecatedSource: fields({ component: text, host: text }),
      deprecatedFirstTimestamp: time,
      deprecatedLastTimestamp: time,
      deprecatedCount: int,
    }),
    allowsCreateOnUpdate: true,
    allowsUnconditionalUpdate: true,
  }),
  viewOf: {
    apiVersion: STORED_VERSION,
    plural: 'events',
    toStored: storedEvent,
    fromStored: viewedEvent,
    toStoredPath: storedEventPath,
  },
});
