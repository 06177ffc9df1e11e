const decimal = /^(?:0|[1-9]\d*)$/;

/** Reports whether `text` is a revision as etcd counts them: decimal digits of any length without leading zeros. */
export function isRevision(text: unknown): text is string {
  return typeof text === 'string' && decimal.test(text);
}

/**
 * Orders two revisions of one resource type: negative when `left` is older, 0 when they are equal, else positive.
 *
 * The only place where revisions are ordered (D-6); elsewhere they are opaque. Revisions may exceed 2^53, so they
 * are compared as text: more digits are newer, equally many compare digit by digit.
 *
 * @throws {RangeError} when either is not a revision
 */
export function compareRevisions(left: string, right: string): number {
  if (left === right) return 0;
  if (!decimal.test(left) || !decimal.test(right)) {
    throw new RangeError(
      `Cannot order revisions "${left}" and "${right}" as both must be decimal digits without leading zeros`,
    );
  }
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : 1;
}

/** Returns the newer of a revision that may not exist yet and one that does. */
export function newerRevision(left: string | undefined, right: string): string {
  return left !== undefined && compareRevisions(left, right) >= 0 ? left : right;
}

/**
 * A consistent read is older than what an informer had seen when it was sent, as after a restored etcd (D-6).
 * No cache can be trusted then: the process ends, and starts with empty ones.
 */
export class RevisionWentBackError extends Error {
  override readonly name = 'RevisionWentBackError';

  constructor(subject: string, read: string, seen: string) {
    super(
      `Cannot trust any cache as a consistent read of ${subject} answered revision ${read} after revision ${seen} had been seen`,
    );
  }
}
