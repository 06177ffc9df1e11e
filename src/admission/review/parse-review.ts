import { NO_DOWNSCALE, PREPARE_DOWNSCALE } from './downscale-text.ts';
import { type JsonReading, type Member, member, readObject } from './json-reader.ts';
import { type ParsedReview, parseDocument, undecodable } from './parse-document.ts';
import type { ObjectReading } from './review.ts';

const name: JsonReading = { as: 'text', most: 253, ifLonger: 'refuse' };
/** A group, a slash and a version. */
const apiVersion: JsonReading = { as: 'text', most: 512, ifLonger: 'refuse' };
const uid: JsonReading = { as: 'text', most: 256, ifLonger: 'refuse' };
/** For the log only, and as long as an identity provider likes. */
const userName: JsonReading = { as: 'text', most: 1_024, ifLonger: 'replace' };
const scalar: JsonReading = { as: 'scalar' };
const labelValue: JsonReading = { as: 'text', most: 253, ifLonger: 'replace' };
/** Those that a webhook looks at: a set may have thousands. */
const labels: JsonReading = {
  as: 'texts',
  members: [member(NO_DOWNSCALE, labelValue), member(PREPARE_DOWNSCALE, labelValue)],
};

function object(...members: readonly Member[]): JsonReading {
  return { as: 'members', members };
}

const workload = object(
  member('apiVersion', apiVersion),
  member('kind', name),
  member('metadata', object(member('uid', uid), member('labels', labels))),
  member('spec', object(member('replicas', scalar))),
);
/** What any webhook looks at in addition to the objects: one that is missing here would be read as absent. */
const requestMembers: readonly Member[] = [
  member('uid', uid),
  member('kind', object(member('group', name), member('version', name), member('kind', name))),
  member(
    'resource',
    object(member('group', name), member('version', name), member('resource', name)),
  ),
  member('subResource', name),
  member('name', name),
  member('namespace', name),
  member('operation', name),
  member('dryRun', scalar),
  member('userInfo', object(member('username', userName))),
];
/** Most of what is read whole (D-58). */
const longestSource = 256 * 1_024;

function reviewWith(...objects: readonly Member[]): readonly Member[] {
  return [
    member('apiVersion', apiVersion),
    member('kind', name),
    member('request', object(...requestMembers, ...objects)),
  ];
}

/** Longest `dryRun`, a list that has one element, if any. */
const longestDryRun = 1_024;
const eviction = object(
  member(
    'deleteOptions',
    object(
      member('dryRun', { as: 'source', most: longestDryRun }),
      member('preconditions', object(member('uid', uid))),
    ),
  ),
);

const outlines: Readonly<Record<ObjectReading, readonly Member[]>> = {
  workload: reviewWith(member('object', workload), member('oldObject', workload)),
  source: reviewWith(member('object', { as: 'source', most: longestSource })),
  eviction: reviewWith(member('object', eviction)),
};

const protobufMagic = Buffer.from('k8s\0');

/**
 * Reads the body of a request as an AdmissionReview in JSON, whatever its content type says. Unknown members are ignored,
 * repeated ones are refused. Total.
 */
export function parseReview(body: Buffer, objects: ObjectReading = 'workload'): ParsedReview {
  if (body.subarray(0, 4).equals(protobufMagic)) return undecodable('protobuf is not supported');
  const read = readObject(body, outlines[objects]);
  return read.kind === 'object' ? parseDocument(read.object) : undecodable(`it ${read.why}`);
}
