import type { JsonObject } from '#base/json.ts';
import { objectAt } from '../../json/read-json.ts';
import { revisionData } from './parse-views.ts';
import type { RevisionView, SetPod, SetSnapshot, SetView } from './views.ts';

/** What to do so that a revision for the present template exists (SS-4). */
export type RevisionAction =
  | { readonly kind: 'create-revision'; readonly name: string; readonly body: JsonObject }
  /** An older revision has the same data: it becomes the newest, under its old name. */
  | { readonly kind: 'raise-revision'; readonly name: string; readonly revision: number };

/** A revision as far as pods are made from it. */
export interface PodSource {
  readonly name: string;
  readonly template: JsonObject;
}

/** The two revisions of a pass (SS-5), and the write that it begins with. */
export interface RevisionPlan {
  readonly current: PodSource;
  readonly update: PodSource;
  readonly action: RevisionAction | undefined;
}

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

function fnv1a(text: string, basis: number): number {
  let hash = basis;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

function letters(value: number, count: number): string {
  let rest = value;
  let text = '';
  for (let index = 0; index < count; index += 1) {
    text += alphabet.charAt(rest % alphabet.length);
    rest = Math.floor(rest / alphabet.length);
  }
  return text;
}

/**
 * Returns ten characters of `bcdfghjklmnpqrstvwxz2456789` that depend on the revision's data and the collision count alone
 * (SS-4).
 */
export function revisionHash(data: string, collisionCount: number): string {
  const text = `${data}#${collisionCount}`;
  return letters(fnv1a(text, 0x811c9dc5), 5) + letters(fnv1a(text, 0x9747b28c), 5);
}

/** Sorts revisions, oldest first: by number, then age, then name. */
export function sortRevisions(revisions: readonly RevisionView[]): readonly RevisionView[] {
  return [...revisions].sort(
    (a, b) =>
      a.revision - b.revision ||
      Number(a.creationTimestamp > b.creationTimestamp) -
        Number(a.creationTimestamp < b.creationTimestamp) ||
      (a.name < b.name ? -1 : 1),
  );
}

function newRevision(set: SetView, hash: string, revision: number): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${set.name}-${hash}`,
      namespace: set.namespace,
      labels: {
        ...objectAt(set.template, 'metadata', 'labels'),
        'controller.kubernetes.io/hash': hash,
      },
      annotations: { ...set.annotations },
      ownerReferences: [ownerReferenceTo(set)],
    },
    data: revisionData(set.template),
    revision,
  };
}

/** Returns the controlling owner reference that a set puts on its pods and revisions (SS-4, SS-7). */
export function ownerReferenceTo(set: SetView): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    name: set.name,
    uid: set.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

function chooseUpdate(
  set: SetView,
  sorted: readonly RevisionView[],
  collisionCount: number,
): { readonly update: PodSource; readonly action: RevisionAction | undefined } {
  const newest = sorted.at(-1);
  const equal = sorted.findLast((revision) => revision.data === set.templateData);
  const next = (newest?.revision ?? 0) + 1;
  if (equal !== undefined) {
    const update = { name: equal.name, template: equal.template };
    if (equal === newest) return { update, action: undefined };
    return { update, action: { kind: 'raise-revision', name: equal.name, revision: next } };
  }
  const hash = revisionHash(set.templateData, collisionCount);
  const name = `${set.name}-${hash}`;
  return {
    update: { name, template: set.template },
    action: { kind: 'create-revision', name, body: newRevision(set, hash, next) },
  };
}

/** Returns the current and the update revision of a pass, and the revision to write first (SS-4, SS-5). */
export function planRevisions(
  set: SetView,
  sorted: readonly RevisionView[],
  collisionCount: number,
): RevisionPlan {
  const { update, action } = chooseUpdate(set, sorted, collisionCount);
  const current = sorted.find((revision) => revision.name === set.status.currentRevision);
  return {
    current: current === undefined ? update : { name: current.name, template: current.template },
    update,
    action,
  };
}

/**
 * Names of the revisions beyond `revisionHistoryLimit`, oldest first (SS-6): only those that are neither
 * current, nor update, nor carried by a pod.
 */
export function expiredRevisions(
  snapshot: SetSnapshot,
  sorted: readonly RevisionView[],
  live: { readonly plan: RevisionPlan; readonly pods: readonly SetPod[] },
): readonly string[] {
  const inUse = new Set([live.plan.current.name, live.plan.update.name]);
  for (const pod of live.pods) inUse.add(pod.revision);
  const history = sorted.filter((revision) => !inUse.has(revision.name));
  const excess = history.length - snapshot.set.revisionHistoryLimit;
  return excess > 0 ? history.slice(0, excess).map((revision) => revision.name) : [];
}
