import { type GivenOptions, numberOption, parseArguments } from './arguments.ts';

/** A cluster to run until it is interrupted. */
export interface ClusterRun {
  /** Folder of manifests; undefined: the examples. */
  readonly folder: string | undefined;
  /** Whether any manifests are applied. */
  readonly isApplied: boolean;
  /** Undefined: a free one. */
  readonly port: number | undefined;
  /** Undefined: a file in a new temporary folder. */
  readonly kubeconfig: string | undefined;
  /** Divides all delays of pods. */
  readonly speed: number;
}

/** A change of the image of every group of a running cluster. */
export interface ClusterRoll {
  /** `next`: the release after the present one. */
  readonly image: string;
  readonly kubeconfig: string;
}

/** What to do, or what to print instead, and the exit code. */
export type ClusterArguments =
  | { readonly kind: 'run'; readonly options: ClusterRun }
  | { readonly kind: 'roll'; readonly options: ClusterRoll }
  | { readonly kind: 'exit'; readonly code: number; readonly text: string };

/** What `--help` prints. */
const clusterHelp = `Usage: npm run do -- cluster [options]

Runs a Kubernetes API server with a StatefulSet controller, a scheduler and kubelets in this process until Ctrl-C,
with the three zones of examples/ingester/ on it. Pods are simulated: no container is started, no image is pulled.

  --apply FOLDER       apply the manifests of another folder
  --no-apply           apply none
  --kubeconfig FILE    where to write the kubeconfig; it must not exist yet (default: a temporary file)
  --port N             port on 127.0.0.1 (default: a free one)
  --speed N            divide all delays of pods by N, from 0.1 to 100 (default 1)

To change the image of all groups of a cluster that runs already:

  --roll IMAGE         an image; next for the release after the present one; a tag :broken cannot be pulled
  --kubeconfig FILE    the kubeconfig of that cluster
`;

const optionTable = {
  apply: 'value',
  'no-apply': 'flag',
  kubeconfig: 'value',
  port: 'value',
  speed: 'value',
  roll: 'value',
  help: 'flag',
} as const;

/** Parses the arguments of `npm run do -- cluster`. */
export function parseClusterArguments(args: readonly string[]): ClusterArguments {
  const parsed = parseArguments(args, optionTable);
  if (parsed.kind === 'invalid') return refused(parsed.sentence);
  const { options } = parsed;
  if (options.has('help')) return { kind: 'exit', code: 0, text: clusterHelp };
  const image = options.get('roll');
  return image === undefined ? parseRun(options) : parseRoll(options, image);
}

function parseRoll(options: GivenOptions, image: string): ClusterArguments {
  const kubeconfig = options.get('kubeconfig');
  if (kubeconfig === undefined) {
    return refused('--roll needs --kubeconfig: the file that the running cluster named');
  }
  return { kind: 'roll', options: { image, kubeconfig } };
}

function parseRun(options: GivenOptions): ClusterArguments {
  if (options.has('apply') && options.has('no-apply')) {
    return refused('--apply and --no-apply exclude each other');
  }
  const port = numberOption(options, 'port', { min: 1, max: 65_535, isInteger: true });
  if (typeof port === 'string') return refused(port);
  const speed = numberOption(options, 'speed', { min: 0.1, max: 100, isInteger: false });
  if (typeof speed === 'string') return refused(speed);
  return {
    kind: 'run',
    options: {
      folder: options.get('apply'),
      isApplied: !options.has('no-apply'),
      port,
      kubeconfig: options.get('kubeconfig'),
      speed: speed ?? 1,
    },
  };
}

function refused(sentence: string): ClusterArguments {
  return { kind: 'exit', code: 2, text: `${sentence}\n` };
}
