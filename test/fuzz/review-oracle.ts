/**
 * Whether a review may be answered with `allowed: true` (FUZZ-2), decided apart from the operator's own parser: a
 * checker that shares code shares its mistakes. Judges the two down-scale webhooks by the label `marker`.
 */
export function mayBeAllowed(review: unknown, marker: string): boolean {
  const request = member(review, 'request');
  const old = member(request, 'oldObject');
  const next = member(request, 'object');
  const operation = member(request, 'operation');
  if (operation === 'CREATE' && isNothing(old)) return true;
  if (operation === 'DELETE' && isNothing(next)) return true;
  return isForeign(request, old) || isFree(old, marker) || doesNotShrink(old, next);
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function member(value: unknown, name: string): unknown {
  return isPlain(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

const replicated = new Set([
  'apps/v1/StatefulSet',
  'apps/v1/Deployment',
  'apps/v1/ReplicaSet',
  'autoscaling/v1/Scale',
]);

/** The request says that it is about something else, and the old object does not contradict it. */
function isForeign(request: unknown, old: unknown): boolean {
  const kind = member(request, 'kind');
  const name = textOf(kind, 'kind');
  const stated = `${textOf(kind, 'group')}/${textOf(kind, 'version')}/${name}`;
  if (replicated.has(stated)) return false;
  if (isNothing(old)) return name !== '';
  const [apiVersion, oldKind] = [textOf(old, 'apiVersion'), textOf(old, 'kind')];
  return apiVersion !== '' && oldKind !== '' && !replicated.has(`${apiVersion}/${oldKind}`);
}

function textOf(value: unknown, name: string): string {
  const text = member(value, name);
  return typeof text === 'string' ? text : '';
}

/** The labels of the old object can be read, and do not ask for anything. */
function isFree(old: unknown, marker: string): boolean {
  if (!isPlain(old)) return false;
  const metadata = member(old, 'metadata');
  if (isNothing(metadata)) return true;
  if (!isPlain(metadata)) return false;
  const labels = member(metadata, 'labels');
  if (isNothing(labels)) return true;
  if (!isPlain(labels)) return false;
  const areTexts = Object.values(labels).every((text) => text === null || typeof text === 'string');
  return areTexts && member(labels, marker) !== 'true';
}

/** Both counts can be read, and the new one is not lower; unstated ones are 1. */
function doesNotShrink(old: unknown, next: unknown): boolean {
  const [from, to] = [countOf(old), countOf(next)];
  return from !== undefined && to !== undefined && to >= from;
}

function countOf(object: unknown): number | undefined {
  if (!isPlain(object)) return undefined;
  const spec = member(object, 'spec');
  if (isNothing(spec)) return 1;
  if (!isPlain(spec)) return undefined;
  const replicas = member(spec, 'replicas');
  if (isNothing(replicas)) return 1;
  const isCount = Number.isInteger(replicas) && Number(replicas) >= 0 && Number(replicas) < 2 ** 31;
  return isCount ? Number(replicas) : undefined;
}
