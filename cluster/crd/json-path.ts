import { isJsonArray, isJsonObject, type JsonValue } from '#base/json.ts';

type Step =
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  /** Elements whose member at `path` is `value`. */
  | { readonly kind: 'filter'; readonly path: readonly string[]; readonly value: string };

/** Returns the steps of a path of printer columns: `.a.b`, `['x']`, `[0]`, `[?(@.type=="X")]` (CR-6); undefined for others. */
function stepsOf(path: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  let rest = path;
  while (rest !== '') {
    const found = nextStep(rest);
    if (found === undefined) return undefined;
    steps.push(found.step);
    rest = rest.slice(found.length);
  }
  return steps;
}

function nextStep(rest: string): { readonly step: Step; readonly length: number } | undefined {
  const member = /^\.((?:[^.[\]\\]|\\.)+)/.exec(rest) ?? /^\['((?:[^'\\]|\\.)*)'\]/.exec(rest);
  if (member !== null) {
    const name = (member[1] ?? '').replaceAll(/\\(.)/g, '$1');
    return { step: { kind: 'member', name }, length: member[0].length };
  }
  const index = /^\[(\d+)\]/.exec(rest);
  if (index !== null) {
    return { step: { kind: 'index', index: Number(index[1]) }, length: index[0].length };
  }
  const filter = /^\[\?\(@\.([\w.]+)\s*==\s*["']([^"']*)["']\)\]/.exec(rest);
  if (filter === null) return undefined;
  const [text, path = '', value = ''] = filter;
  return { step: { kind: 'filter', path: path.split('.'), value }, length: text.length };
}

function memberAt(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function taken(value: JsonValue | undefined, step: Step): JsonValue | undefined {
  switch (step.kind) {
    case 'member':
      return memberAt(value, step.name);
    case 'index':
      return isJsonArray(value) ? value[step.index] : undefined;
    default:
      if (!isJsonArray(value)) return undefined;
      return value.find((element) => {
        let at: JsonValue | undefined = element;
        for (const name of step.path) at = memberAt(at, name);
        return at === step.value;
      });
  }
}

/** Returns a reader of what is at `path`; undefined where the path is of a form that is not read here. */
export function compileJsonPath(
  path: string,
): ((value: JsonValue) => JsonValue | undefined) | undefined {
  const steps = stepsOf(path.replace(/^\{(.*)\}$/, '$1'));
  if (steps === undefined) return undefined;
  return (value) => {
    let at: JsonValue | undefined = value;
    for (const step of steps) at = taken(at, step);
    return at;
  };
}
