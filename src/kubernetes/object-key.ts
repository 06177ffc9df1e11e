/** Names an object of a namespace. */
export interface NamedObject {
  readonly namespace: string;
  readonly name: string;
}

/** Returns the key of the object in a queue or an index: `namespace/name`. */
export function objectKey({ namespace, name }: NamedObject): string {
  return `${namespace}/${name}`;
}

/** Returns the namespace and the name that `key` is made of. */
export function parseObjectKey(key: string): NamedObject {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
}
