/** Replacements of kustomize that put the user's namespace where a text has it within. */
import { name as account } from './deployment.ts';

/** Stands for the namespace. No API server takes it for a name or a namespace. */
export const PLACEHOLDER = 'NAMESPACE';

interface Named {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** A text with the placeholder. */
interface Place {
  readonly path: string;
  readonly text: string;
}

/**
 * A transformer that replaces the placeholder in each text of `objects`: those are found by their kind and by their name
 * with the placeholder, so that the name itself comes last. Of a dotted text the first part takes two steps, as kustomize
 * knows only parts between equal separators: a label carries it in between, which gets its own value afterwards.
 */
export function namespaceNames(objects: readonly object[]): object {
  return {
    apiVersion: 'builtin',
    kind: 'ReplacementTransformer',
    metadata: { name: 'namespace-names' },
    replacements: objects.flatMap((object) => replacementsOf(object as Named)),
  };
}

function replacementsOf(object: Named): readonly object[] {
  const select = { kind: object.kind, name: object.metadata.name };
  const places = placesIn(object, '');
  const isDotted = ({ text }: Place): boolean => text.includes('.');
  const isName = ({ path }: Place): boolean => path === 'metadata.name';
  const carrier = places.find(({ path }) => path.startsWith('metadata.labels.'));
  const dotted = places.filter(isDotted).flatMap(({ path, text }) => {
    const [head = ''] = text.split('.');
    if (carrier === undefined) throw new Error(`No label of ${select.name} can carry ${head}`);
    return [
      fromName(select, carrier.path),
      fromAccount(select, { path: carrier.path, text: head }),
      {
        source: { ...select, fieldPath: carrier.path },
        targets: [{ select, fieldPaths: [path], options: { delimiter: '.', index: 0 } }],
      },
    ];
  });
  const rest = places.filter((place) => !isDotted(place));
  return [
    ...dotted,
    ...rest.filter((place) => !isName(place)).map((place) => fromAccount(select, place)),
    ...rest.filter(isName).map((place) => fromAccount(select, place)),
  ];
}

function fromName(select: object, path: string): object {
  return {
    source: { ...select, fieldPath: 'metadata.name' },
    targets: [{ select, fieldPaths: [path] }],
  };
}

/** The account is in each installation, and kustomize has put it into the namespace by then. */
function fromAccount(select: object, { path, text }: Place): object {
  const index = text.split('-').indexOf(PLACEHOLDER);
  const options = text === PLACEHOLDER ? {} : { options: { delimiter: '-', index } };
  return {
    source: { kind: 'ServiceAccount', name: account, fieldPath: 'metadata.namespace' },
    targets: [{ select, fieldPaths: [path], ...options }],
  };
}

function placesIn(value: unknown, path: string): readonly Place[] {
  if (typeof value === 'string') return value.includes(PLACEHOLDER) ? [{ path, text: value }] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const step = key.includes('.') ? `[${key}]` : key;
    return placesIn(member, path === '' ? step : `${path}.${step}`);
  });
}
