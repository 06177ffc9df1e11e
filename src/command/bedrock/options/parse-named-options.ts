import { quoted } from '#base/text/quoted.ts';
import { parseOptions } from './parse-options.ts';

/** Which rollout is meant. */
export interface NamedOptions {
  readonly name: string;
  /** Undefined: that of the kubeconfig. */
  readonly namespace: string | undefined;
  readonly kubeconfig: string | undefined;
}

/** What to do, or what to print instead, and the exit code. */
export type ParsedNamed =
  | { readonly kind: 'named'; readonly options: NamedOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'invalid'; readonly sentence: string };

/** Returns what `--help` prints after `bedrock <command>`, of which `does` says what it does. */
export function namedHelp(command: string, does: string): string {
  return `Usage: rollout-operator bedrock ${command} NAME [-n NAMESPACE] [--kubeconfig FILE]

${does}

  -n, --namespace NAMESPACE   of the StatefulsetRollout; without it that of the kubeconfig
  --kubeconfig FILE           the cluster; without it $KUBECONFIG, else that of the pod, else ~/.kube/config

Exit codes: 0 done, 1 it cannot be done, 2 the arguments are wrong.
`;
}

const table = { namespace: 'value', kubeconfig: 'value', help: 'flag' } as const;
const objectName = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Reads the arguments after `bedrock status|pause|resume|retry`; the name comes first or last. */
export function parseNamedOptions(args: readonly string[]): ParsedNamed {
  const { name, rest } = splitName(args);
  const parsed = parseOptions(rest, table);
  if (parsed.kind === 'invalid') return parsed;
  const { options } = parsed;
  if (options.has('help')) return { kind: 'help' };
  const namespace = options.get('namespace');
  const wrong = nameProblem(name) ?? namespaceProblem(namespace);
  if (wrong !== undefined) return { kind: 'invalid', sentence: wrong };
  return { kind: 'named', options: { name, namespace, kubeconfig: options.get('kubeconfig') } };
}

/** Takes the first argument, or the last that is no value of an option. The name is empty where there is none. */
function splitName(args: readonly string[]): {
  readonly name: string;
  readonly rest: readonly string[];
} {
  const [first = '-'] = args;
  if (!first.startsWith('-')) return { name: first, rest: args.slice(1) };
  const last = args.at(-1) ?? '-';
  const isValue = /^(?:-n|--namespace|--kubeconfig)$/.test(args.at(-2) ?? '');
  if (last.startsWith('-') || isValue) return { name: '', rest: args };
  return { name: last, rest: args.slice(0, -1) };
}

function nameProblem(name: string): string | undefined {
  if (name === '') return 'The name of a StatefulsetRollout is needed';
  return objectName.test(name)
    ? undefined
    : `${quoted(name)} is not a name of a StatefulsetRollout`;
}

function namespaceProblem(namespace: string | undefined): string | undefined {
  if (namespace === undefined || objectName.test(namespace)) return undefined;
  return `--namespace must be a name: got ${quoted(namespace)}`;
}
