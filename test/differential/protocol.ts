/** Conversations about single rules of the protocol, by their numbers in embedded-cluster §24. */
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
