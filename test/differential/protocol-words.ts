/** Words that conversations about the protocol share. */
import type { Conversation, Talk } from './talk.ts';

/** Path of the ConfigMaps of a conversation. */
export const configMaps = (talk: Talk): string => `/api/v1/namespaces/${talk.namespace}/configmaps`;

/** Path of the pods of a conversation. */
export const pods = (talk: Talk): string => `/api/v1/namespaces/${talk.namespace}/pods`;

/** Path of the StatefulSets of a conversation. */
export const sets = (talk: Talk): string =>
  `/apis/apps/v1/namespaces/${talk.namespace}/statefulsets`;

/** Header of a JSON patch. */
export const json = { 'content-type': 'application/json-patch+json' };

/** Header of those who want a Table. */
export const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };

/** Header of a strategic patch. */
export const strategic = { 'content-type': 'application/strategic-merge-patch+json' };

/** A ConfigMap. */
export function configMap(name: string, members: object = {}): Record<string, never> {
  return { metadata: { name }, ...members } as unknown as Record<string, never>;
}

/** One conversation for each case, called as `about` says. */
export function each<Value>(
  cases: Readonly<Record<string, Value>>,
  about: (sentence: string) => string,
  script: (talk: Talk, value: Value) => Promise<void>,
): Record<string, Conversation> {
  return Object.fromEntries(
    Object.entries(cases).map(([sentence, value]): [string, Conversation] => [
      about(sentence),
      (talk) => script(talk, value),
    ]),
  );
}
