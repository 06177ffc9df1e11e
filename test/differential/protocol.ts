/**
 * Conversations about single rules of the protocol, one file a subject; the other files here hold them with two servers
 * and compare. Where the two differ the embedded one is wrong, or accepted-differences.ts says why not.
 */
import { protocolPods } from './protocol-pods.ts';
import { protocolReads } from './protocol-reads.ts';
import { protocolSets } from './protocol-sets.ts';
import { protocolWrites } from './protocol-writes.ts';
import type { Conversation } from './talk.ts';

/** Keyed by a sentence. */
export const protocol: Readonly<Record<string, Conversation>> = {
  ...protocolReads,
  ...protocolWrites,
  ...protocolSets,
  ...protocolPods,
};
