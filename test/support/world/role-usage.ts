import type { PolicyRule } from '#cluster/auth/authorizer.ts';
import type { Call } from '#cluster/event-log.ts';

/** One verb that a rule of a Role grants. */
interface Grant {
  readonly verb: string;
  /** As the event log has it: `pods`, `statefulsets.apps`. */
  readonly resource: string;
  readonly subresource: string;
  /** The only object that it is about; undefined: any. */
  readonly name: string | undefined;
}

/**
 * Returns what `rules` grant and none of `calls` used, such as `patch statefulsets.apps` or `get configmaps/one-name`; each
 * name of a rule has to be used by itself.
 */
export function unusedGrants(
  rules: readonly PolicyRule[],
  calls: readonly Pick<Call, 'verb' | 'resource' | 'subresource' | 'name' | 'outcome'>[],
): readonly string[] {
  const served = calls.filter(({ outcome }) => outcome !== 403);
  return rules
    .flatMap(grantsOf)
    .filter(
      ({ verb, resource, subresource, name }) =>
        !served.some(
          (call) =>
            call.verb === verb &&
            call.resource === resource &&
            call.subresource === subresource &&
            (name === undefined || call.name === name),
        ),
    )
    .map(textOf);
}

function grantsOf({ apiGroups, resources, verbs, resourceNames = [] }: PolicyRule): Grant[] {
  const names = resourceNames.length === 0 ? [undefined] : resourceNames;
  return apiGroups.flatMap((group) =>
    resources.flatMap((path) => {
      const [plural = '', subresource = ''] = path.split('/');
      const resource = group === '' ? plural : `${plural}.${group}`;
      return verbs.flatMap((verb) => names.map((name) => ({ verb, resource, subresource, name })));
    }),
  );
}

function textOf({ verb, resource, subresource, name }: Grant): string {
  const path = [resource, subresource, name].filter((part) => part !== undefined && part !== '');
  return `${verb} ${path.join('/')}`;
}
