import { quoted } from '#base/text/quoted.ts';
import { parseGoDuration } from '#base/time/go-duration.ts';
import type { Millis } from '#base/units.ts';
import type { ApiAddress } from '../drive-ports.ts';
import type { DeployOptions } from './convert-options.ts';
import { apiAddressOf, apiAddressTable } from './parse-api-address.ts';
import { deployOptions, deployTable } from './parse-convert-options.ts';
import { type Options, parseOptions } from './parse-options.ts';

/** What `bedrock run` does. */
export interface RunOptions {
  /** With all phases. */
  readonly deploy: DeployOptions;
  /** The percentage to begin with; undefined: the first of the stage. */
  readonly from: number | undefined;
  readonly isConfirmed: boolean;
  readonly timeout: Millis | undefined;
  readonly kubeconfig: string | undefined;
  /** Undefined: the cluster itself is written to. */
  readonly api: ApiAddress | undefined;
  /** The deploy that runs, and that this one takes the place of. */
  readonly replaces: string | undefined;
}

/** What to do, or what to print instead, and the exit code. */
export type ParsedRun =
  | { readonly kind: 'run'; readonly options: RunOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'invalid'; readonly sentence: string };

/** What `--help` prints. */
export const runHelp = `Usage: rollout-operator bedrock run -f bedrock.yaml --service S --stage T --image NAME=REFERENCE@sha256:… [options]

Deploys one stage of a service, phase by phase: writes the PodDisruptionBudget and the StatefulsetRollout, waits until the
rollout has ended, and goes on with the next percentage. Ctrl-C ends the wait, and not the rollout.

  -f, --file, --service, --stage, --cluster, --image, --allow-tags, --version, --git-branch, --git-origin, --git-sha,
  --bapi-url, --stage-id, --dc, --rollout-identity, --lenient, --strict
                           as "bedrock convert --help" says
  -y, --yes                does not ask between two phases; needed where there is no terminal
  --from PERCENT           begins with this phase, and not with the first
  --timeout DURATION       such as 90m: waits no longer than that, over all phases
  --kubeconfig FILE        the cluster; without it $KUBECONFIG, else that of the pod, else ~/.kube/config
  --api URL                a deploy API ("bedrock api") carries the phases out, in place of this program
  --token-file FILE        the token for it
  --replaces ID            takes the place of this deploy of the API, although that still runs
  --ca-file FILE           certificates that vouch for it, in PEM; without it those of this host

Exit codes: 0 all phases are done, 1 it ended before that (a failed request, --timeout, Ctrl-C, a no), 2 the input is wrong,
3 the kind is not supported, 4 a rollout has failed.
`;

const runTable = {
  ...deployTable,
  ...apiAddressTable,
  yes: 'flag',
  from: 'value',
  timeout: 'value',
  kubeconfig: 'value',
  replaces: 'value',
} as const;

/** Reads the arguments after `bedrock run`. */
export function parseRunOptions(args: readonly string[]): ParsedRun {
  const parsed = parseOptions(args, runTable);
  if (parsed.kind === 'invalid') return parsed;
  const { options } = parsed;
  if (options.has('help')) return { kind: 'help' };
  const run = runOptions(options);
  return typeof run === 'string'
    ? { kind: 'invalid', sentence: run }
    : { kind: 'run', options: run };
}

function runOptions(options: Options): RunOptions | string {
  const deploy = deployOptions(options);
  if (typeof deploy === 'string') return deploy;
  const from = fromOf(options.get('from'));
  if (typeof from === 'string') return from;
  const timeout = timeoutOf(options.get('timeout'));
  if (typeof timeout === 'string') return timeout;
  const api = apiAddressOf(options);
  if (typeof api === 'string') return api;
  const [excluded] = options.among(['kubeconfig', 'bapi-url']);
  if (api !== undefined && excluded !== undefined)
    return `--api and --${excluded} exclude each other`;
  const replaces = options.get('replaces');
  if (replaces !== undefined && api === undefined) return '--replaces needs --api';
  return {
    deploy: { ...deploy, phases: { kind: 'all' } },
    from,
    isConfirmed: options.has('yes'),
    timeout,
    kubeconfig: options.get('kubeconfig'),
    api,
    replaces,
  };
}

function fromOf(text: string | undefined): number | string | undefined {
  if (text === undefined) return undefined;
  const isPercent = /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 100;
  return isPercent ? Number(text) : `--from must be an integer from 1 to 100: got ${quoted(text)}`;
}

function timeoutOf(text: string | undefined): Millis | string | undefined {
  if (text === undefined) return undefined;
  const parsed = parseGoDuration(text, '--timeout');
  if (parsed.kind === 'valid' && parsed.value > 0) return parsed.value;
  return `--timeout must be a duration above 0, such as "90m": got ${quoted(text)}`;
}
